import CurlFloor
import Glibc

/// The C code of `CurlFloor`, in a process like that of the others.
struct CurlFloorCandidate {
  let job: CandidateJob
  let urls: [String]

  init(_ job: CandidateJob, _ urls: [String]) { (self.job, self.urls) = (job, urls) }

  func run() throws -> CandidateReport {
    let texts = urls.map { UnsafePointer(strdup($0)) }
    let authorities = job.authorities.flatMap { strdup($0) }
    let folder = job.output.flatMap { strdup($0) }
    defer {
      for text in texts { free(UnsafeMutablePointer(mutating: text)) }
      free(authorities)
      free(folder)
    }
    var result = floor_result()
    let status = texts.withUnsafeBufferPointer { texts in
      var floor = floor_job()
      floor.urls = texts.baseAddress
      floor.count = texts.count
      floor.parallel = job.parallel
      floor.engine = job.isPolling ? floor_engine_poll : floor_engine_socket
      floor.buffer = job.buffer
      floor.inflates = job.inflates ? 1 : 0
      floor.asked_from_outside = job.isAskedFromOutside == true ? 1 : 0
      floor.multiplexes = job.authorities == nil ? 0 : 1
      floor.authorities = UnsafePointer(authorities)
      floor.folder = UnsafePointer(folder)
      return floor_run(&floor, &result)
    }
    guard status == 0 else { throw Wrong("the C loop failed") }
    return CandidateReport(result)
  }

  func receive() throws -> CandidateReport {
    var result = floor_result()
    let path = urls[0].split(separator: "/", maxSplits: 2).last.map { "/" + $0 }
    guard floor_receive(Int32(job.port), path ?? "/", job.output, &result) == 0 else {
      throw Wrong("the loop of recv and write failed")
    }
    return CandidateReport(result)
  }
}

extension CandidateReport {
  init(_ result: floor_result) {
    self.init(
      bodies: Int(result.bodies), bytes: Int(result.bytes), digest: result.digest, wall: result.wall, cpu: result.cpu)
  }
}

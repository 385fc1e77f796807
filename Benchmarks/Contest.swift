/// Candidates that do the same, in turn.
struct Contest {
  struct Candidate {
    let name: String
    /// Does it all once, and checks that it was done.
    let run: () throws -> Run
  }

  /// One turn of a candidate.
  struct Run {
    /// Seconds.
    var wall: Double
    var cpu: Double
    /// What was asked for beside the times.
    var value = 0.0
  }

  /// Two candidates compared, or a value of one.
  struct Bound {
    enum Measure: String {
      case wall
      case cpu = "CPU"
      case value
    }

    var name: String
    var measure: Measure
    var candidate: Int
    /// nil: the figure stands for itself.
    var against: Int?
    var must: Double
    var goal: Double
    var unit = "x"
    /// By which the figure is multiplied.
    var scale = 1.0
  }

  let name: String
  let rounds: Int
  /// For each run, in how many bodies.
  let bodies: Int
  let candidates: [Candidate]
  let bounds: [Bound]

  /// Every candidate once a round, in an order that turns.
  func run(_ tell: (String) -> Void) throws -> (scores: [Score], figures: [CandidateFigure]) {
    var runs = candidates.map { _ in [Run]() }
    for round in 0..<rounds {
      tell("\(name), round \(round + 1) of \(rounds)")
      for turn in candidates.indices {
        let at = (turn + round) % candidates.count
        runs[at].append(try candidates[at].run())
      }
    }
    return (bounds.map { score($0, runs) }, candidates.indices.map { figure($0, runs) })
  }

  private func score(_ bound: Bound, _ runs: [[Run]]) -> Score {
    let values = runs[bound.candidate].map { bound.measure.of($0) * bound.scale }
    guard let against = bound.against else {
      return Score(
        bound.name, candidates[bound.candidate].name, values.median, must: bound.must, goal: bound.goal,
        unit: bound.unit)
    }
    let ratio = ratio(bound.measure, bound.candidate, against, runs)
    return Score(
      bound.name, "\(bound.measure.rawValue) / \(candidates[against].name)", ratio, must: bound.must, goal: bound.goal)
  }

  /// The median of the rounds' ratios: what disturbs a round disturbs both.
  private func ratio(_ measure: Bound.Measure, _ candidate: Int, _ against: Int, _ runs: [[Run]]) -> Double {
    zip(runs[candidate], runs[against]).map { measure.of($0) / max(measure.of($1), 1e-9) }.median
  }

  private func figure(_ at: Int, _ runs: [[Run]]) -> CandidateFigure {
    let cpu = runs[at].map(\.cpu).median
    return CandidateFigure(
      contest: name, candidate: candidates[at].name, wall: runs[at].map(\.wall).median * 1000, cpu: cpu * 1000,
      cpuPerBody: cpu * 1e6 / Double(bodies), wallRatio: ratio(.wall, at, 0, runs), cpuRatio: ratio(.cpu, at, 0, runs),
      value: value(runs[at]))
  }

  /// What was asked for beside the times, in the unit in which it is promised; nil: nothing.
  private func value(_ runs: [Run]) -> String? {
    bounds.first { $0.measure == .value && $0.against == nil }.map { bound in
      decimal(runs.map(\.value).median * bound.scale) + " " + bound.unit
    }
  }
}

extension Contest.Bound.Measure {
  func of(_ run: Contest.Run) -> Double {
    switch self {
    case .wall: run.wall
    case .cpu: run.cpu
    case .value: run.value
    }
  }
}

/// Finds what somebody who mistyped a word most probably meant.
enum Spelling {
  /// The nearest of `words`: one that begins like the mistyped word, else the one with the fewest mistakes, where those
  /// are few enough to be mistakes: two, or a third of a longer word, and never all of its letters.
  static func nearest(to word: String, among words: [String]) -> String? {
    if word.count > 2, let longer = words.first(where: { $0.hasPrefix(word) }) { return longer }
    let letters = word.count { $0 != "-" }
    let limit = min(max(2, letters / 3), letters - 1)
    return words.map { (word: $0, mistakes: distance(word, $0)) }
      .filter { $0.mistakes <= limit }
      .min { $0.mistakes < $1.mistakes }?.word
  }

  /// Letters to add, drop, change, or swap with their neighbour (the optimal string alignment distance).
  static func distance(_ left: String, _ right: String) -> Int {
    let left = Array(left)
    let right = Array(right)
    var beforeLast: [Int] = []
    var last = Array(0...right.count)
    for row in left.indices {
      var current = [row + 1]
      for column in right.indices {
        var best = min(last[column + 1], current[column]) + 1
        best = min(best, last[column] + (left[row] == right[column] ? 0 : 1))
        if row > 0, column > 0, left[row] == right[column - 1], left[row - 1] == right[column] {
          best = min(best, beforeLast[column - 1] + 1)
        }
        current.append(best)
      }
      (beforeLast, last) = (last, current)
    }
    return last[right.count]
  }
}

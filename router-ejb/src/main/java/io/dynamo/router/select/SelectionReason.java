package io.dynamo.router.select;

/** The reason why a rank was chosen. */
public enum SelectionReason {
  /** No other rank could take the request. */
  ONLY_CANDIDATE,
  /** The rank costs least. */
  LEAST_COST,
  /** Of the ranks that cost least, it has the fewest requests. */
  TIE_FEWEST_REQUESTS,
  /** Drawn at random from those that cost least and have equally few requests. */
  TIE_RANDOM,
  /** Drawn at random with a probability that falls with the cost, by the temperature. */
  DRAWN,
  /** Requests had piled up on other ranks; this one has the fewest. */
  BALANCED,
  /** The rank has the most of the prompt cached. */
  MOST_CACHED,
  /** The rank was next in turn. */
  IN_TURN,
  /** Drawn at random. */
  RANDOM,
  /** The less loaded of two drawn at random. */
  LESS_LOADED_OF_TWO,
  /** The rank has the fewest requests. */
  LEAST_LOADED
}

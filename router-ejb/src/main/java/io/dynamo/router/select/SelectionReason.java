package io.dynamo.router.select;

/** Why a rank was chosen. */
public enum SelectionReason {
  /** Nobody else could take it. */
  ONLY_CANDIDATE,
  /** It costs least. */
  LEAST_COST,
  /** Of those that cost least, it has the fewest requests. */
  TIE_FEWEST_REQUESTS,
  /** One of those that cost least and have equally few requests, at random. */
  TIE_RANDOM,
  /** Drawn by cost, as the temperature wants. */
  DRAWN,
  /** Requests had piled up elsewhere; it has the fewest. */
  BALANCED,
  /** It has the most of the prompt cached. */
  MOST_CACHED,
  /** It was its turn. */
  IN_TURN,
  /** At random. */
  RANDOM,
  /** The less loaded of two drawn at random. */
  LESS_LOADED_OF_TWO,
  /** It has the fewest requests. */
  LEAST_LOADED
}

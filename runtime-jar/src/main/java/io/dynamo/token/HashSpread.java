package io.dynamo.token;

import java.security.SecureRandom;

/**
 * Spreads 64-bit keys over the places of a hash table. Clients choose the tokens of a prompt, and
 * could search for blocks whose hashes share a place if the factor were known; a random odd factor
 * lets two keys share one of 2^k places with a probability of 2^(1-k) at most (Dietzfelbinger et
 * al., "A Reliable Randomized Algorithm for the Closest-Pair Problem", 1997).
 */
public final class HashSpread {
  /** Random and odd; the place of a key is given by the upper bits of its product with this. */
  public static final long FACTOR = new SecureRandom().nextLong() | 1;

  private HashSpread() {}
}

package io.dynamo.kv;

/**
 * The work of one pass of an engine, and the requests that waited meanwhile; planners scale by it.
 *
 * @param seconds how long it took; 0 for the sign of life of an engine that had nothing to do
 * @param scheduled what the pass worked on, those that ended in it included
 * @param queued what waited for a place; {@code prefillKvTokens} is 0
 */
public record ForwardPass(double seconds, Work scheduled, Work queued) {
  /** The topic of forward passes. */
  public static final String TOPIC = "forward-pass-metrics";

  /** Nothing was done, nothing waited. */
  public static final ForwardPass IDLE = new ForwardPass(0, Work.NONE, Work.NONE);

  /**
   * Requests of a pass, or of a queue.
   *
   * @param prefills requests whose prompt is computed, or waits to be
   * @param prefillTokens prompt tokens that are computed for them: those in the cache are not
   * @param promptVariance population variance of their whole prompts' lengths
   * @param prefillKvTokens prompt tokens that were in the cache before
   * @param decodes requests that make a further token; in a queue those that lost their place
   * @param decodeKvTokens tokens that they attend to: prompts and what was made of the answers
   * @param decodeVariance population variance of that number per request
   */
  public record Work(
      int prefills,
      long prefillTokens,
      double promptVariance,
      long prefillKvTokens,
      int decodes,
      long decodeKvTokens,
      double decodeVariance) {
    public static final Work NONE = new Work(0, 0, 0, 0, 0, 0, 0);
  }
}

package io.dynamo.kv;

/**
 * The work of one engine pass, and the requests that waited during it; planners use it for scaling.
 *
 * @param seconds duration of the pass; 0 for the sign of life of an idle engine
 * @param scheduled the requests that the pass worked on, including those that ended in it
 * @param queued the requests that waited for a place; its {@code prefillKvTokens} is 0
 */
public record ForwardPass(double seconds, Work scheduled, Work queued) {
  /** The topic of forward-pass reports. */
  public static final String TOPIC = "forward-pass-metrics";

  /** A pass without work, and with nothing waiting. */
  public static final ForwardPass IDLE = new ForwardPass(0, Work.NONE, Work.NONE);

  /**
   * The requests of a pass, or of a queue.
   *
   * @param prefills requests whose prompt is computed, or waits to be
   * @param prefillTokens prompt tokens computed for them, without the cached ones
   * @param promptVariance population variance of the lengths of their whole prompts
   * @param prefillKvTokens prompt tokens that were cached before
   * @param decodes requests that generate another token; in a queue, the preempted ones
   * @param decodeKvTokens tokens that they attend to: prompts and the answers so far
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

package io.dynamo.frontend.openai;

import io.dynamo.concurrent.Cancellation;
import io.dynamo.concurrent.Deadline;
import io.dynamo.error.OverloadedException;
import io.dynamo.frontend.ApiException;
import io.dynamo.frontend.admission.BodyBudget;
import io.dynamo.frontend.admission.RequestAccount;
import io.dynamo.frontend.watch.RequestWatch;

/**
 * A request as received, with its account, its observers and its limits.
 *
 * @param share its part of the memory for request bodies; once the request is prepared it is
 *     charged with what the running request keeps
 * @param receivedMillis UNIX time of arrival
 * @param receivedNanos the same moment by {@link System#nanoTime()}
 */
record ReceivedRequest(
    Api api,
    IncomingRequest http,
    String id,
    Deadline deadline,
    Cancellation cancellation,
    RequestAccount account,
    BodyBudget.Share share,
    RequestWatch watch,
    long receivedMillis,
    long receivedNanos) {
  /**
   * Charges memory for what a stream has brought.
   *
   * @throws OverloadedException when there is no room, which ends the stream
   */
  void gatherStreamed(long bytes) {
    try {
      share.gather(bytes);
    } catch (ApiException full) {
      throw new OverloadedException(full.error().message());
    }
  }
}

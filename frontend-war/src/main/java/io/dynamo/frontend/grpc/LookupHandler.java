package io.dynamo.frontend.grpc;

import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.ApiException;
import io.dynamo.frontend.kserve.LookupMessages;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.Status;
import java.io.UncheckedIOException;
import java.lang.System.Logger.Level;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** Answers calls that look something up: one message for one. */
final class LookupHandler implements ServerCallHandler<byte[], byte[]> {
  private static final System.Logger LOG = System.getLogger(LookupHandler.class.getName());

  private final UnaryOperator<byte[]> lookup;
  private final Means means;

  /**
   * The means to answer calls in time.
   *
   * @param threads run what may block until the client reads
   */
  record Means(InferHandler.Patience patience, ScheduledExecutorService timer, Executor threads) {}

  /**
   * @param lookup returns the answer to a request, or throws {@link ApiException}; must not block
   */
  LookupHandler(UnaryOperator<byte[]> lookup, Means means) {
    this.lookup = lookup;
    this.means = means;
  }

  @Override
  public ServerCall.Listener<byte[]> startCall(ServerCall<byte[], byte[]> call, Metadata headers) {
    var output = new CallOutput(call, means.patience.writeStall());
    var arrival = Arrival.current();
    arrival.listen(output::fail, () -> {});
    arrival.limit(LookupMessages.MAX_REQUEST);
    output.request();
    output.request();
    return new Call(output);
  }

  private final class Call extends ServerCall.Listener<byte[]> {
    private final CallOutput output;
    private final Future<?> alarm;
    private byte @Nullable [] request;

    Call(CallOutput output) {
      this.output = output;
      long limit = means.patience.upload().toNanos();
      alarm = means.timer.schedule(this::tooSlow, limit, TimeUnit.NANOSECONDS);
    }

    private void tooSlow() {
      output.close(
          Status.DEADLINE_EXCEEDED.withDescription(
              "no whole request came within %d ms; send it faster"
                  .formatted(means.patience.upload().toMillis())),
          new Metadata());
    }

    @Override
    public void onMessage(byte[] message) {
      request = message;
    }

    @Override
    public void onHalfClose() {
      alarm.cancel(false);
      var whole = request;
      request = null;
      means.threads.execute(() -> answer(whole, output));
    }

    @Override
    public void onReady() {
      output.wake();
    }

    @Override
    public void onCancel() {
      alarm.cancel(false);
      output.wake();
    }

    @Override
    public void onComplete() {
      alarm.cancel(false);
    }
  }

  private void answer(byte @Nullable [] request, CallOutput output) {
    if (request == null) {
      output.fail(ApiError.of(400, "the call has no message"));
      return;
    }
    try {
      output.send(lookup.apply(request));
      output.complete();
    } catch (ApiException refused) {
      output.fail(refused.error());
    } catch (UncheckedIOException gone) {
      LOG.log(Level.DEBUG, "a client left before it was answered");
    } catch (RuntimeException | Error e) {
      output.fail(ApiError.of(e));
      throw e;
    }
  }
}

package io.dynamo.frontend.openai;

import io.dynamo.concurrent.ItemStream;
import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.Instance;
import io.dynamo.discovery.InstanceId;
import io.dynamo.frontend.dispatch.ChosenWorker;
import io.dynamo.frontend.dispatch.Dispatcher;
import io.dynamo.frontend.dispatch.LegDispatcher;
import io.dynamo.frontend.dispatch.MigrationRules;
import io.dynamo.frontend.dispatch.PlainLegs;
import io.dynamo.frontend.dispatch.WorkerCalls;
import io.dynamo.frontend.watch.Stages;
import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.FinishReason;
import io.dynamo.inference.GenerateRequest;
import io.dynamo.inference.Usage;
import io.dynamo.metrics.Metrics;
import io.dynamo.net.PayloadFormat;
import io.dynamo.request.RequestContext;
import io.dynamo.trace.Tracing;
import io.dynamo.wire.ItemDecoder;
import io.dynamo.wire.generate.GenerateCodec;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.Flow;
import java.util.concurrent.ScheduledExecutorService;
import org.jspecify.annotations.Nullable;

/**
 * A worker that answers with one-token items from their bytes, each when the client has the one
 * before it, all on the caller's thread: nothing waits, and no two tokens leave in one write.
 */
final class FedWorkers extends OutputStream implements WorkerCalls {
  /** The first id; one of those below ends a text in the fixture's model. */
  static final int FIRST = 16;

  private static final MigrationRules NO_MIGRATION = new MigrationRules(0);

  private final int tokens;
  private final byte[][] items; // as they arrive, in turn
  private final ItemDecoder<EngineOutput> decoder =
      new GenerateCodec().decoder(PayloadFormat.MSGPACK);
  private @Nullable ItemStream<EngineOutput> stream; // of the request that is answered
  private int sent;
  private long clientBytes;

  /**
   * @param tokens of each answer
   * @param vocabulary how many different tokens there are
   */
  FedWorkers(int tokens, int vocabulary) {
    this.tokens = tokens;
    var codec = new GenerateCodec();
    items = new byte[vocabulary][];
    for (int i = 0; i < vocabulary; i++) {
      items[i] = codec.encodeItem(EngineOutput.ofTokens(FIRST + i), PayloadFormat.MSGPACK);
    }
  }

  Dispatcher dispatcher(Metrics metrics, ScheduledExecutorService timer) {
    return new LegDispatcher(
        request -> new ChosenWorker(request, new InstanceId(1), 0, () -> {}),
        this,
        _ -> List.of(),
        new PlainLegs(),
        NO_MIGRATION,
        metrics,
        new Stages(metrics, Tracing.OFF),
        Runnable::run,
        timer);
  }

  @Override
  public Flow.Publisher<EngineOutput> call(
      Instance instance, GenerateRequest request, RequestContext context) {
    var next = new ItemStream<EngineOutput>(64, () -> {}, () -> {});
    stream = next;
    sent = 0;
    feed(next);
    return next;
  }

  private void feed(ItemStream<EngineOutput> to) {
    if (sent < tokens) {
      to.offer(decoder.decode(ByteBuffer.wrap(items[sent % items.length])));
      sent++;
    } else if (sent++ == tokens) {
      to.offer(EngineOutput.finish(FinishReason.LENGTH, new Usage(5, tokens, null)));
      to.complete();
    }
  }

  @Override
  public void setAside(EndpointId endpoint, InstanceId worker) {}

  /** The client's socket takes everything. */
  @Override
  public void write(int octet) {
    clientBytes++;
  }

  @Override
  public void write(byte[] bytes, int from, int count) {
    clientBytes += count;
  }

  @Override
  public void flush() {
    var answered = stream;
    if (answered != null) {
      feed(answered);
    }
  }

  /** All that the client got so far, in bytes. */
  long clientBytes() {
    return clientBytes;
  }
}

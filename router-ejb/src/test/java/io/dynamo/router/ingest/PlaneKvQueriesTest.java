package io.dynamo.router.ingest;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.Instance;
import io.dynamo.discovery.InstanceId;
import io.dynamo.discovery.TransportAddress;
import io.dynamo.error.EngineFailedException;
import io.dynamo.kv.KvQuery;
import io.dynamo.kv.KvReply;
import io.dynamo.kv.WorkerRank;
import io.dynamo.net.PayloadFormat;
import io.dynamo.request.EndpointClient;
import io.dynamo.request.RequestContext;
import io.dynamo.wire.MessageCodec;
import io.dynamo.wire.kv.KvQueryCodec;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class PlaneKvQueriesTest {
  private static final WorkerRank RANK = new WorkerRank(new InstanceId(1), 0);
  private static final KvReply DUMP = new KvReply.TreeDump(List.of(), 7);
  private static final Instance TARGET =
      new Instance(
          new EndpointId("n", "c", "e"),
          RANK.worker(),
          new TransportAddress.Tcp("127.0.0.1:1", "p"),
          "cpu",
          PayloadFormat.MSGPACK);

  private final Queue<Runnable> tasks = new ArrayDeque<>();
  private byte @Nullable [] answer = new KvQueryCodec().encodeItem(DUMP, PayloadFormat.MSGPACK);
  private boolean stopped;

  /** Answers with {@link #answer}, decoded on the caller's thread as an event loop would. */
  private final class Client implements EndpointClient {
    @Override
    public <Q, R> Flow.Publisher<R> call(
        Instance instance, Q request, MessageCodec<Q, R> codec, RequestContext context) {
      return subscriber ->
          subscriber.onSubscribe(
              new Flow.Subscription() {
                @Override
                public void request(long n) {
                  var item = answer;
                  if (item != null) {
                    subscriber.onNext(codec.decodeItem(ByteBuffer.wrap(item), instance.format()));
                  }
                  subscriber.onComplete();
                }

                @Override
                public void cancel() {}
              });
    }

    @Override
    public void instanceLost(Instance instance) {}

    @Override
    public void instanceFound(Instance instance) {}

    @Override
    public void close() {}
  }

  private CompletableFuture<KvReply> ask() {
    var queries =
        new PlaneKvQueries(
            new Client(),
            new KvQueryCodec(),
            task -> {
              if (stopped) {
                throw new RejectedExecutionException("stopped");
              }
              tasks.add(task);
            });
    return queries.ask(TARGET, KvQuery.ofAll(RANK));
  }

  @Test
  void aReplyIsDecodedOnTheExecutorAndNotWhereItArrives() {
    var reply = ask();
    assertThat(reply).isNotDone();
    assertThat(tasks).hasSize(1);

    tasks.remove().run();
    assertThat(reply).isCompletedWithValue(DUMP);
  }

  @Test
  void undecodableReplyFailsTheQuery() {
    answer = new byte[] {(byte) 0xc1};
    var reply = ask();
    tasks.remove().run();

    assertThat(reply).isCompletedExceptionally();
  }

  @Test
  void anAnswerWithoutAReplyFails() {
    answer = null;

    assertThat(ask())
        .failsWithin(Duration.ZERO)
        .withThrowableThat()
        .withCauseInstanceOf(EngineFailedException.class);
  }

  @Test
  void aRouterThatStopsDecodesNothing() {
    stopped = true;

    assertThat(ask()).isCompletedExceptionally();
  }
}

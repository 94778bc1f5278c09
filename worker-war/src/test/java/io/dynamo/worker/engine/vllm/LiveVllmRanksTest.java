package io.dynamo.worker.engine.vllm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.config.plane.EventSettings;
import io.dynamo.error.InvalidRequestException;
import io.dynamo.event.zmq.ZmqRawStreams;
import io.dynamo.inference.OutputOptions;
import io.dynamo.inference.RoutingHints;
import io.dynamo.inference.SamplingOptions;
import io.dynamo.inference.StopConditions;
import io.dynamo.kv.StoredBlock;
import io.dynamo.metrics.Metrics;
import io.dynamo.metrics.WorkerMetrics;
import io.dynamo.pipeline.EventLoops;
import io.dynamo.token.BlockHashes;
import io.dynamo.token.SequenceHash;
import io.dynamo.worker.engine.Collected;
import io.dynamo.worker.engine.KvEventSink;
import io.dynamo.worker.engine.Requests;
import io.dynamo.worker.engine.llama.TinyModel;
import io.dynamo.worker.engine.remote.RemoteEngine;
import io.dynamo.worker.engine.remote.ZmqKvEvents;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Drives a real vLLM with two data-parallel ranks, which {@code -Ddynamo.it.vllm.ranks} names. */
class LiveVllmRanksTest {
  private static final int BLOCK = 32;
  private static final Duration PATIENCE = Duration.ofMinutes(1); // a first use compiles
  private static int prompts = (int) (System.nanoTime() % 1500); // none is asked twice by chance

  private final BlockingQueue<ReportedBlock> reported = new LinkedBlockingQueue<>();
  private EventLoops loops;
  private ZmqRawStreams streams;
  private RemoteEngine engine;

  private record ReportedBlock(int rank, long content) {}

  /** Keeps the blocks that are stored. */
  private final class Recorder implements KvEventSink {
    @Override
    public void stored(int rank, @Nullable SequenceHash parent, List<StoredBlock> blocks) {
      blocks.forEach(block -> reported.add(new ReportedBlock(rank, block.content().value())));
    }

    @Override
    public void removed(int rank, List<SequenceHash> blocks) {}

    @Override
    public void cleared(int rank) {}
  }

  @BeforeEach
  void start() {
    var address = LiveVllm.address("dynamo.it.vllm.ranks");
    loops = new EventLoops(1);
    streams =
        new ZmqRawStreams(
            new EventSettings(
                EventSettings.Plane.LOCAL, "127.0.0.1", null, 1000, 1 << 20, 1000, 1 << 20, null),
            loops);
    var dropped = new Metrics().counter(WorkerMetrics.KV_EVENTS_DROPPED);
    engine = LiveVllm.engine(address, 4, new ZmqKvEvents(streams, dropped));
    var description = engine.start(new Recorder());
    assertThat(description.ranks()).isEqualTo(2);
    assertThat(description.tellsKvEvents()).isTrue();
  }

  @AfterEach
  void stop() {
    if (engine != null) {
      engine.close();
      streams.close();
      loops.close();
    }
  }

  private static int[] newPrompt() {
    prompts += 200;
    return Requests.prompt(prompts, 200);
  }

  private Collected ask(int[] prompt, int tokens, @Nullable Integer rank) {
    var stop = new StopConditions(tokens, List.of(), List.of(), null, true);
    var greedy = new SamplingOptions(null, 0f, null, null, null, null, null, null, null);
    var request = Requests.of(prompt, stop, greedy, OutputOptions.DEFAULTS);
    return Collected.all(
        engine.generate(
            rank == null ? request : request.routedTo(new RoutingHints(rank)), Requests.context()));
  }

  private int cached(int[] prompt, int rank) throws Exception {
    var got = ask(prompt, 1, rank).ended(PATIENCE);
    assertThat(got.failure()).isNull();
    return Objects.requireNonNull(Objects.requireNonNull(got.last().usage()).cachedTokens());
  }

  private void awaitBlock(int rank, long content) throws InterruptedException {
    long begun = System.nanoTime();
    while (System.nanoTime() - begun < TimeUnit.SECONDS.toNanos(20)) {
      var next = reported.poll(20, TimeUnit.SECONDS);
      if (next != null && next.content == content) {
        assertThat(next.rank).isEqualTo(rank);
        return;
      }
    }
    throw new AssertionError("rank %d has not reported the block within 20 s".formatted(rank));
  }

  @Test
  void aPromptIsCachedByTheRankThatTheRequestNamesAndNoOther() throws Exception {
    for (int rank = 0; rank < 2; rank++) {
      var prompt = newPrompt();
      assertThat(cached(prompt, rank)).isZero();
      var hashes = BlockHashes.of(prompt, BLOCK);
      for (int i = 0; i < hashes.length(); i++) {
        awaitBlock(rank, hashes.block(i));
      }
      assertThat(cached(prompt, rank)).isEqualTo(192);
      assertThat(cached(prompt, 1 - rank)).isZero();
      awaitBlock(1 - rank, hashes.block(0));
    }
  }

  @Test
  void eachRankAnswersAsPyTorch() throws Exception {
    var golden = TinyModel.golden().getFirst();
    for (int rank = 0; rank < 2; rank++) {
      var got = ask(golden.prompt(), golden.output().length, rank).ended(PATIENCE);
      assertThat(got.tokens()).startsWith(golden.output());
    }
  }

  @Test
  void requestsThatNameNoRankAreSharedOut() throws Exception {
    var first = ask(newPrompt(), 3000, null).begun();
    var second = ask(newPrompt(), 3000, null).begun();
    assertThat(engine.ranks()).extracting(rank -> rank.running()).containsExactly(1, 1);
    assertThat(engine.ranks()).allMatch(rank -> rank.heldBlocks() >= 6);
    first.cancel();
    second.cancel();
  }

  @Test
  void aRankThatIsNotThereIsRefused() {
    assertThatThrownBy(() -> ask(newPrompt(), 1, 2)).isInstanceOf(InvalidRequestException.class);
  }
}

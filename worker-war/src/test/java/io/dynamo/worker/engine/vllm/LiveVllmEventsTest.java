package io.dynamo.worker.engine.vllm;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.config.plane.EventSettings;
import io.dynamo.event.zmq.ZmqRawStreams;
import io.dynamo.inference.OutputOptions;
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
import io.dynamo.worker.engine.remote.RemoteEngine;
import io.dynamo.worker.engine.remote.ZmqKvEvents;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Follows the KV events of a real vLLM. */
class LiveVllmEventsTest {
  private static final int BLOCK = 32;

  /** The contents of blocks, and clears, in the order of their report. */
  private static final class VllmEventRecorder implements KvEventSink {
    final BlockingQueue<Long> contents = new LinkedBlockingQueue<>();
    static final long CLEARED = 0;

    @Override
    public void stored(int rank, @Nullable SequenceHash parent, List<StoredBlock> blocks) {
      blocks.forEach(block -> contents.add(block.content().value()));
    }

    @Override
    public void removed(int rank, List<SequenceHash> blocks) {}

    @Override
    public void cleared(int rank) {
      contents.add(CLEARED);
    }

    /** Waits until {@code content} is reported. */
    void await(long content) throws InterruptedException {
      long begun = System.nanoTime();
      while (System.nanoTime() - begun < TimeUnit.SECONDS.toNanos(20)) {
        var next = contents.poll(20, TimeUnit.SECONDS);
        if (next != null && next == content) {
          return;
        }
      }
      throw new AssertionError("not reported within 20 s: " + Long.toUnsignedString(content));
    }
  }

  private static RemoteEngine engine(ZmqRawStreams streams) {
    return LiveVllm.engine(
        LiveVllm.address(),
        1,
        new ZmqKvEvents(streams, new Metrics().counter(WorkerMetrics.KV_EVENTS_DROPPED)));
  }

  private static void run(RemoteEngine engine, int[] prompt) throws Exception {
    var stop = new StopConditions(1, List.of(), List.of(), null, true);
    var request = Requests.of(prompt, stop, SamplingOptions.DEFAULTS, OutputOptions.DEFAULTS);
    assertThat(Collected.all(engine.generate(request, Requests.context())).ended().failure())
        .isNull();
  }

  @Test
  void blocksAreReportedUnderTheHashesOfRoutersNowAndToWhoComesLater() throws Exception {
    LiveVllm.address(); // left out without a server
    var prompt = Requests.prompt(1 + (int) (System.nanoTime() % 2000), 200);
    var hashes = BlockHashes.of(prompt, BLOCK);
    var settings =
        new EventSettings(
            EventSettings.Plane.LOCAL, "127.0.0.1", null, 1000, 1 << 20, 1000, 1 << 20, null);
    try (var loops = new EventLoops(1);
        var streams = new ZmqRawStreams(settings, loops)) {
      var heard = new VllmEventRecorder();
      try (var engine = engine(streams)) {
        assertThat(engine.start(heard).tellsKvEvents()).isTrue();
        engine.clearCache();
        run(engine, prompt);
        for (int i = 0; i < hashes.length(); i++) {
          heard.await(hashes.block(i));
        }
      }
      var later = new VllmEventRecorder();
      try (var engine = engine(streams)) {
        engine.start(later);
        for (int i = 0; i < hashes.length(); i++) {
          later.await(hashes.block(i)); // by the replay socket
        }
        engine.clearCache();
        run(engine, Requests.prompt(3000, 64)); // the clear is sent with the next events
        later.await(VllmEventRecorder.CLEARED);
      }
    }
  }
}

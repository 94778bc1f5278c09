package io.dynamo.worker;

import io.dynamo.concurrent.ItemStream;
import io.dynamo.error.ErrorCode;
import io.dynamo.error.WorkerLostException;
import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.FinishReason;
import io.dynamo.inference.GenerateRequest;
import io.dynamo.inference.Logprobs;
import io.dynamo.inference.PassedOn;
import io.dynamo.kv.ForwardPass;
import io.dynamo.request.RequestContext;
import io.dynamo.worker.engine.Engine;
import io.dynamo.worker.engine.EngineDescription;
import io.dynamo.worker.engine.EngineParts;
import io.dynamo.worker.engine.KvEventSink;
import io.dynamo.worker.engine.LoadReport;
import io.dynamo.worker.engine.PassReport;
import io.dynamo.worker.engine.RankLoad;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Flow;
import org.jspecify.annotations.Nullable;

/** An engine of two ranks that answers one token at once, or misbehaves as its mode says. */
final class FaultyEngine implements Engine, LoadReport, PassReport {
  /** The engine's behaviours. */
  enum Mode {
    WELL,
    THROWS,
    BREAKS_IN_THE_MIDDLE,
    HANGS,
    ENDS_WITHOUT_A_REASON,
    GOES_ON_AFTER_THE_END,
    MAKES_UNKNOWN_TOKENS,
    COMPUTES_NAN,
    SAYS_THAT_IT_FAILED
  }

  Mode mode = Mode.WELL;
  final Set<Integer> hangingRanks = new HashSet<>();
  final List<GenerateRequest> asked = new ArrayList<>();
  final List<ItemStream<EngineOutput>> hanging = new ArrayList<>();
  private PassReport.@Nullable Listener passes;

  EngineParts parts() {
    return EngineParts.of(this);
  }

  @Override
  public EngineDescription start(KvEventSink events) {
    return new EngineDescription(100, 4, 10, 2, 3);
  }

  @Override
  public Flow.Publisher<EngineOutput> generate(GenerateRequest request, RequestContext context) {
    asked.add(request);
    var stream = new ItemStream<EngineOutput>(8, () -> {}, () -> {});
    var rank = request.routing().rank();
    if (rank != null && hangingRanks.contains(rank)) {
      hanging.add(stream);
      return stream;
    }
    switch (mode) {
      case THROWS -> throw new IllegalStateException("a bug");
      case HANGS -> hanging.add(stream);
      case BREAKS_IN_THE_MIDDLE -> {
        stream.offer(EngineOutput.ofTokens(1));
        stream.fail(new IllegalStateException("a bug"));
      }
      case ENDS_WITHOUT_A_REASON -> {
        stream.offer(EngineOutput.ofTokens(1));
        stream.complete();
      }
      case GOES_ON_AFTER_THE_END -> {
        stream.offer(EngineOutput.finish(FinishReason.LENGTH, null, 1));
        stream.offer(EngineOutput.ofTokens(2));
        stream.complete();
      }
      case MAKES_UNKNOWN_TOKENS -> end(stream, EngineOutput.ofTokens(TestWorker.VOCABULARY));
      case COMPUTES_NAN -> {
        var rated = new Logprobs(null, new double[] {Double.NaN}, List.of());
        end(
            stream,
            new EngineOutput(new int[] {1}, null, null, null, 0, null, rated, null, PassedOn.NONE));
      }
      case SAYS_THAT_IT_FAILED -> {
        stream.offer(new EngineOutput(new int[0], null, FinishReason.ERROR, "it failed", 0, null));
        stream.complete();
      }
      case WELL -> end(stream, EngineOutput.ofTokens(1));
    }
    return stream;
  }

  private static void end(ItemStream<EngineOutput> stream, EngineOutput first) {
    stream.offer(first);
    stream.offer(EngineOutput.finish(FinishReason.LENGTH, null, 2));
    stream.complete();
  }

  void pass(int rank) {
    var to = passes;
    if (to != null) {
      to.passed(rank, ForwardPass.IDLE);
    }
  }

  /** Simulates the death of its thread: running streams end as if it were shut down. */
  void die() {
    hanging.forEach(
        stream ->
            stream.fail(new WorkerLostException(ErrorCode.BACKEND_ENGINE_SHUTDOWN, "it is gone")));
    hanging.clear();
  }

  @Override
  public int running() {
    return hanging.size();
  }

  @Override
  public List<RankLoad> ranks() {
    return List.of();
  }

  @Override
  public long cancelled() {
    return 0;
  }

  @Override
  public long lastCancelNanos() {
    return 0;
  }

  @Override
  public void reportPassesTo(PassReport.Listener listener) {
    passes = listener;
  }

  @Override
  public void close() {
    die();
  }
}

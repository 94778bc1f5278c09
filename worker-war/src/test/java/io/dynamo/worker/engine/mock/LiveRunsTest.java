package io.dynamo.worker.engine.mock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.error.InvalidRequestException;
import io.dynamo.inference.FinishReason;
import io.dynamo.inference.GenerateRequest;
import io.dynamo.inference.OutputOptions;
import io.dynamo.inference.PassedOn;
import io.dynamo.inference.RoutingHints;
import io.dynamo.inference.SamplingOptions;
import io.dynamo.inference.StopConditions;
import io.dynamo.inference.Usage;
import io.dynamo.json.Json;
import io.dynamo.json.JsonObject;
import io.dynamo.kv.StoredBlock;
import io.dynamo.token.SequenceHash;
import io.dynamo.worker.engine.Collected;
import io.dynamo.worker.engine.HeapMemory;
import io.dynamo.worker.engine.KvEventSink;
import io.dynamo.worker.engine.ManualPacer;
import io.dynamo.worker.engine.Requests;
import io.dynamo.worker.engine.mock.Scheduling.Victim;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Replays recordings of live workers of Dynamo 1.6.1's mocker, made by one client with their KV
 * events: this engine must give the same answers and events. Left out are schedulers, roles and
 * options that it does not have, and deliberate differences.
 */
class LiveRunsTest {
  private static final Set<String> RUNS =
      Set.of("s1", "evict8", "preempt6", "shared_batch", "nocache", "dp2", "maxlen");

  /** A run without a budget, which ends by itself in this engine. */
  private static final String SERVED_HERE = "d-nomax";

  /**
   * Runs that this engine refuses with the numbers, where Dynamo gives an empty or shortened
   * answer.
   */
  private static final Set<String> REFUSED_HERE = Set.of("f-empty", "clamp");

  record Run(String name, JsonObject json) {
    @Override
    public String toString() {
      return name;
    }
  }

  /**
   * One event about one block.
   *
   * @param hash null where the recorded one has tokens that were drawn
   * @param parent the parent of a stored block; null for none, and where it is unknown
   */
  private record RankEvent(int rank, boolean stored, @Nullable Long hash, @Nullable Long parent) {
    /** Returns this event without the fields that are unknown in {@code recorded}. */
    RankEvent asKnownTo(RankEvent recorded) {
      return new RankEvent(
          rank,
          stored,
          recorded.hash == null ? null : hash,
          recorded.parent == null ? null : parent);
    }
  }

  private static final class Log implements KvEventSink {
    private final List<RankEvent> reports = new ArrayList<>();

    @Override
    public void stored(int rank, @Nullable SequenceHash parent, List<StoredBlock> blocks) {
      var before = parent;
      for (var block : blocks) {
        reports.add(
            new RankEvent(
                rank, true, block.hash().value(), before == null ? null : before.value()));
        before = block.hash();
      }
    }

    @Override
    public void removed(int rank, List<SequenceHash> blocks) {
      blocks.forEach(block -> reports.add(new RankEvent(rank, false, block.value(), null)));
    }

    @Override
    public void cleared(int rank) {
      throw new AssertionError("nobody asked for that");
    }

    List<RankEvent> take() {
      var taken = List.copyOf(reports);
      reports.clear();
      return taken;
    }
  }

  static Stream<Run> runs() throws IOException {
    try (var in = LiveRunsTest.class.getResourceAsStream("live-runs.json")) {
      var all = Json.readObject(Objects.requireNonNull(in).readAllBytes()).optionalObjects("runs");
      return all.stream()
          .map(one -> new Run(one.text("name"), one))
          .filter(run -> RUNS.contains(run.name()));
    }
  }

  private static int flag(List<?> flags, String name, int otherwise) {
    int at = flags.indexOf(name);
    return at < 0 ? otherwise : Integer.parseInt(String.valueOf(flags.get(at + 1)));
  }

  private static MockEngine engine(List<?> flags, ManualPacer time) {
    var how =
        new Scheduling(
            8192,
            true,
            !flags.contains("--no-enable-prefix-caching"),
            Victim.NEWEST,
            new PassTiming.Polynomial(),
            1,
            1);
    return new MockEngine(
        new MockEngineConfig(
            flag(flags, "--data-parallel-size", 1),
            256,
            1024,
            flag(flags, "--max-model-len", 1 << 20),
            flag(flags, "--block-size", 64),
            flag(flags, "--num-gpu-blocks-override", 16384),
            8,
            how,
            64,
            42,
            64),
        new OracleTokens(Requests.prompt(1000, 1000)),
        new Xxh3BlockHashing(),
        new HeapMemory(),
        time);
  }

  @ParameterizedTest
  @MethodSource("runs")
  void answersAndEventsAreThoseOfALiveWorker(Run run) {
    var time = new ManualPacer();
    var log = new Log();
    try (var engine = engine(run.json().list("flags"), time)) {
      engine.start(log);
      for (var phase : run.json().optionalObjects("phases")) {
        play(phase, engine, time);
        var expected = expected(phase);
        var reports = log.take();
        assertThat(reports).as("%s", expected).hasSameSizeAs(expected);
        for (int i = 0; i < reports.size(); i++) {
          assertThat(reports.get(i).asKnownTo(expected.get(i))).isEqualTo(expected.get(i));
        }
      }
    }
  }

  private static void play(JsonObject phase, MockEngine engine, ManualPacer time) {
    record ReplayedRequest(JsonObject recorded, Collected answer) {}
    var asked = new ArrayList<ReplayedRequest>();
    double now = 0;
    for (var one : inOrder(phase.optionalObjects("requests"))) {
      double at = number(one, "start_delay_s");
      time.advance(Duration.ofNanos(Math.round((at - now) * 1e9)));
      now = at;
      var id = one.text("id");
      var request = request(one.object("request"), id);
      if (isRefused(one) || REFUSED_HERE.contains(id)) {
        var refused =
            assertThatThrownBy(() -> engine.generate(request, Requests.context()))
                .as(id)
                .isInstanceOf(InvalidRequestException.class);
        if (id.equals("d-bad")) {
          refused.hasMessage("dp_rank 5 is out of bounds for dp_size 2");
        }
      } else {
        asked.add(
            new ReplayedRequest(one, Collected.all(engine.generate(request, Requests.context()))));
      }
    }
    time.advance(Duration.ofMinutes(1));
    asked.forEach(one -> compare(one.recorded(), one.answer()));
  }

  /**
   * Returns the requests in order of arrival; of simultaneous ones, those with fewer cached tokens
   * first.
   */
  private static List<JsonObject> inOrder(List<JsonObject> requests) {
    return requests.stream()
        .filter(one -> !one.text("id").equals(SERVED_HERE))
        .sorted(
            Comparator.<JsonObject>comparingDouble(one -> number(one, "start_delay_s"))
                .thenComparingInt(LiveRunsTest::cached))
        .toList();
  }

  private static int cached(JsonObject one) {
    var chunks = one.optionalObjects("chunks");
    var usage = chunks.isEmpty() ? null : chunks.getFirst().optionalObject("usage");
    return usage == null ? 0 : usage.count("cached_tokens");
  }

  private static boolean isRefused(JsonObject one) {
    return one.members().get("error") != null
        || one.optionalObjects("chunks").getFirst().optionalObject("finish_reason") != null;
  }

  private static double number(JsonObject from, String name) {
    return ((Number) Objects.requireNonNull(from.members().get(name))).doubleValue();
  }

  private static GenerateRequest request(JsonObject recorded, String id) {
    var ids = recorded.list("token_ids");
    var prompt = ids.stream().mapToInt(token -> ((Number) token).intValue()).toArray();
    var routing = recorded.optionalObject("routing");
    // different tokens for each, as in the recording
    var sampling =
        new SamplingOptions(
            null,
            null,
            null,
            null,
            null,
            null,
            null,
            null,
            (long) id.hashCode(),
            null,
            null,
            PassedOn.NONE);
    var most = recorded.object("stop_conditions").optionalCount("max_tokens");
    return Requests.of(
            prompt,
            new StopConditions(most, List.of(), List.of(), null, true),
            sampling,
            OutputOptions.DEFAULTS)
        .routedTo(new RoutingHints(routing == null ? null : routing.optionalCount("dp_rank")));
  }

  /**
   * Compares the answers; the last token comes with the end here, and before it in the recording.
   */
  private static void compare(JsonObject recorded, Collected answer) {
    var id = recorded.text("id");
    var chunks = recorded.optionalObjects("chunks");
    assertThat(answer.isEnded()).as(id).isTrue();
    assertThat(answer.failure()).as(id).isNull();
    assertThat(answer.last().finishReason()).as(id).isEqualTo(FinishReason.LENGTH);
    assertThat(answer.items()).as(id).hasSize(chunks.size() - 1);
    assertThat(answer.items()).as(id).allSatisfy(item -> assertThat(item.tokenIds()).hasSize(1));
    assertThat(answer.items().getFirst().usage()).as(id).isEqualTo(usage(chunks.getFirst()));
    assertThat(answer.last().usage()).as(id).isEqualTo(usage(chunks.getLast()));
  }

  private static Usage usage(JsonObject chunk) {
    var usage = chunk.object("usage");
    return new Usage(
        usage.count("prompt_tokens"),
        usage.count("completion_tokens"),
        usage.count("cached_tokens"));
  }

  private static List<RankEvent> expected(JsonObject phase) {
    var reports = new ArrayList<RankEvent>();
    for (var batch : phase.optionalObjects("zmq_batches")) {
      for (var event : batch.optionalObjects("events")) {
        boolean stored = event.text("type").equals("BlockStored");
        boolean known = Boolean.TRUE.equals(event.members().get("from_prompt_only"));
        var parent = event.members().get("parent_block_hash");
        for (var text : event.list("block_hashes")) {
          long hash = Long.parseUnsignedLong(String.valueOf(text));
          reports.add(
              new RankEvent(
                  batch.count("rank"),
                  stored,
                  known ? hash : null,
                  parent == null ? null : Long.parseUnsignedLong(String.valueOf(parent))));
          parent = stored ? text : null;
        }
      }
    }
    return reports;
  }
}

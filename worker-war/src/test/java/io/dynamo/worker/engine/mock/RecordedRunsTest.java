package io.dynamo.worker.engine.mock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.dynamo.json.Json;
import io.dynamo.json.JsonObject;
import io.dynamo.worker.engine.mock.Scheduling.Victim;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Replays runs recorded from Dynamo 1.6.1's own mocker, vLLM's scheduler, in virtual time. */
class RecordedRunsTest {
  private static final double MILLI = 1e6;
  private static final double MICROSECOND = 1e-3;

  record Case(String name, JsonObject json) {
    @Override
    public String toString() {
      return name;
    }
  }

  private static byte[] file(String name) {
    try (var in = Objects.requireNonNull(RecordedRunsTest.class.getResourceAsStream(name))) {
      return in.readAllBytes();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static Stream<Case> virtualTime() {
    return Json.readObject(file("virtual-time.json")).optionalObjects("cases").stream()
        .filter(RecordedRunsTest::isOfVllmsScheduler)
        .map(one -> new Case(one.text("name"), one));
  }

  private static boolean isOfVllmsScheduler(JsonObject one) {
    var launch = one.optionalObject("engine");
    return launch != null
        && launch.optionalCount("dp_size") == null
        && launch.object("engine").optionalText("backend") == null
        && launch.object("engine").optionalCount("aic_nextn") == null;
  }

  static Stream<Case> replay() {
    return Json.readObject(file("round-robin.json")).optionalObjects("runs").stream()
        .map(one -> new Case(one.text("name"), one));
  }

  private static double number(JsonObject from, String name, double otherwise) {
    return from.members().get(name) instanceof Number number ? number.doubleValue() : otherwise;
  }

  private static boolean truth(JsonObject from, String name) {
    return !Boolean.FALSE.equals(from.members().get(name));
  }

  private static VirtualWorker worker(JsonObject engine) {
    var timing = engine.optionalObject("timing_model");
    double speedup = number(engine, "speedup_ratio", 1);
    var how =
        new Scheduling(
            (int) number(engine, "max_num_batched_tokens", 8192),
            truth(engine, "enable_chunked_prefill"),
            truth(engine, "enable_prefix_caching"),
            "fifo".equals(engine.optionalText("preemption_mode")) ? Victim.OLDEST : Victim.NEWEST,
            timing == null
                ? new PassTiming.Polynomial()
                : new PassTiming.Fixed(
                    number(timing, "prefill_ms", 0), number(timing, "decode_ms", 0)),
            speedup == 0 ? 1 : speedup, // 0 means unscaled there, and is refused here
            number(engine, "decode_speedup_ratio", 1));
    return new VirtualWorker(
        how,
        (int) number(engine, "max_num_seqs", 256),
        engine.count("block_size"),
        engine.count("num_gpu_blocks"),
        (int) number(engine, "max_model_len", 1 << 20));
  }

  private static List<VirtualWorker.Request> run(
      JsonObject engine, int workers, List<JsonObject> rows, int traceBlock) {
    var all = new ArrayList<VirtualWorker>();
    for (int i = 0; i < workers; i++) {
      all.add(worker(engine));
    }
    var requests = new ArrayList<VirtualWorker.Request>();
    long first = Math.round(number(rows.getFirst(), "timestamp", 0) * MILLI);
    for (int i = 0; i < rows.size(); i++) {
      var row = rows.get(i);
      long arrival = Math.round(number(row, "timestamp", 0) * MILLI) - first;
      requests.add(
          all.get(i % workers).add(arrival, prompt(row, traceBlock), row.count("output_length")));
    }
    all.forEach(VirtualWorker::run);
    return requests;
  }

  /** Returns the tokens of a prompt: each hash id stands for a run of tokens. */
  private static int[] prompt(JsonObject row, int traceBlock) {
    var ids = row.list("hash_ids");
    var prompt = new int[row.count("input_length")];
    for (int i = 0; i < prompt.length; i++) {
      prompt[i] = ((Number) Objects.requireNonNull(ids.get(i / traceBlock))).intValue();
    }
    return prompt;
  }

  /** The course of one request; the recording orders simultaneous ones in its own way. */
  private record Fate(
      double arrival, int input, int output, double first, double last, int reused, int admissions)
      implements Comparable<Fate> {
    static Fate of(VirtualWorker.Request request) {
      return new Fate(
          request.arrival / MILLI,
          request.promptTokens,
          request.generated(),
          request.firstToken / MILLI,
          request.lastToken / MILLI,
          request.mostReused,
          request.admissions);
    }

    static Fate of(JsonObject json) {
      return new Fate(
          number(json, "arrival_time_ms", -1),
          json.count("input_length"),
          json.count("output_length"),
          number(json, "first_token_ms", -1),
          number(json, "last_token_ms", -1),
          json.count("reused_input_tokens"),
          json.count("admission_count"));
    }

    @Override
    public int compareTo(Fate other) {
      return Comparator.comparingDouble(Fate::arrival)
          .thenComparingInt(Fate::input)
          .thenComparingInt(Fate::output)
          .thenComparingDouble(Fate::first)
          .thenComparingDouble(Fate::last)
          .thenComparingInt(Fate::reused)
          .compare(this, other);
    }
  }

  @ParameterizedTest
  @MethodSource("virtualTime")
  void timesReuseAndPreemptionsAreThoseOfTheMocker(Case recorded) {
    var json = recorded.json();
    var engine = json.object("engine").object("engine");
    int workers = (int) number(json.object("options"), "num_workers", 1);
    var got =
        run(engine, workers, json.optionalObjects("rows"), json.count("trace_block_size")).stream()
            .filter(request -> !request.rejected)
            .map(Fate::of)
            .sorted()
            .toList();
    var expected =
        json.optionalObjects("requests").stream()
            .filter(request -> request.text("terminal_status").equals("completed"))
            .map(Fate::of)
            .sorted()
            .toList();
    assertThat(got).hasSameSizeAs(expected);
    for (int i = 0; i < got.size(); i++) {
      var is = got.get(i);
      var should = expected.get(i);
      assertThat(is.first())
          .as("first %s %s", is, should)
          .isCloseTo(should.first(), within(MICROSECOND));
      assertThat(is.last())
          .as("last %s %s", is, should)
          .isCloseTo(should.last(), within(MICROSECOND));
      assertThat(is.reused()).as("reused %s %s", is, should).isEqualTo(should.reused());
      assertThat(is.admissions()).as("%s %s", is, should).isEqualTo(should.admissions());
      assertThat(is.output()).as("%s %s", is, should).isEqualTo(should.output());
    }
  }

  @ParameterizedTest
  @MethodSource("replay")
  void longTraceIsReplayedWithoutADifference(Case recorded) {
    var rows =
        new String(file("trace-800.jsonl"), StandardCharsets.UTF_8)
            .lines()
            .map(line -> Json.readObject(line.getBytes(StandardCharsets.UTF_8)))
            .toList();
    var json = recorded.json();
    var got =
        run(json.object("engine"), json.count("num_workers"), rows, json.count("trace_block_size"));
    var expected = json.list("requests");
    assertThat(got).hasSameSizeAs(expected);
    for (int i = 0; i < got.size(); i++) {
      var is = got.get(i);
      var should = (List<?>) Objects.requireNonNull(expected.get(i));
      var row = Map.of("row", i, "run", recorded.name());
      assertThat((is.firstToken - is.arrival) / MILLI)
          .as("first token of %s", row)
          .isCloseTo(value(should, 1), within(1e-2));
      assertThat((is.lastToken - is.arrival) / MILLI)
          .as("last token of %s", row)
          .isCloseTo(value(should, 2), within(1e-2));
      assertThat((double) is.mostReused).as("reuse of %s", row).isEqualTo(value(should, 3));
      assertThat((double) is.admissions).as("admissions of %s", row).isEqualTo(value(should, 4));
    }
  }

  private static double value(List<?> row, int at) {
    @Nullable Object value = row.get(at);
    return ((Number) Objects.requireNonNull(value)).doubleValue();
  }
}

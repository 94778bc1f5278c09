package io.dynamo.worker.engine.mock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.dynamo.inference.EngineOutput;
import io.dynamo.json.Json;
import io.dynamo.json.JsonObject;
import io.dynamo.worker.engine.EngineContract;
import io.dynamo.worker.engine.HeapMemory;
import io.dynamo.worker.engine.ManualPacer;
import io.dynamo.worker.engine.Requests;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Flow;
import org.junit.jupiter.api.Test;

/**
 * Tests two ranks in lockstep, against a run recorded from Dynamo 1.6.1's mocker in virtual time.
 */
class RankGroupTest {
  private static final double MILLI = 1e6;
  private static final double MICROSECOND = 1e-3;

  private final ManualPacer time = new ManualPacer();
  private final long begin = time.nanos();

  /** Records when the tokens of one request came, in milliseconds from the start. */
  private final class Times implements Flow.Subscriber<EngineOutput> {
    final List<Double> tokens = new ArrayList<>();

    @Override
    public void onSubscribe(Flow.Subscription subscription) {
      subscription.request(Long.MAX_VALUE);
    }

    @Override
    public void onNext(EngineOutput item) {
      tokens.add((time.nanos() - begin) / MILLI);
    }

    @Override
    public void onError(Throwable cause) {
      throw new AssertionError(cause);
    }

    @Override
    public void onComplete() {}
  }

  private static JsonObject recorded() throws Exception {
    try (var in = RankGroupTest.class.getResourceAsStream("virtual-time.json")) {
      var all = Json.readObject(Objects.requireNonNull(in).readAllBytes());
      return all.optionalObjects("cases").stream()
          .filter(one -> one.text("name").equals("dp 2"))
          .findFirst()
          .orElseThrow();
    }
  }

  private static double number(JsonObject from, String name) {
    return ((Number) Objects.requireNonNull(from.members().get(name))).doubleValue();
  }

  private MockEngine engine() {
    var how = Scheduling.of(new PassTiming.Polynomial());
    return new MockEngine(
        new MockEngineConfig(2, 256, 256, 1 << 20, 4, 64, 8, how, 64, 42, 64),
        new OracleTokens(Requests.prompt(1000, 1000)),
        new Xxh3BlockHashing(),
        new HeapMemory(),
        time);
  }

  @Test
  void aPassBeginsForAllRanksAndLastsAsLongAsTheSlowest() throws Exception {
    var recorded = recorded();
    var rows = recorded.optionalObjects("rows");
    var expected = recorded.optionalObjects("requests");
    var answers = new ArrayList<Times>();
    try (var engine = engine()) {
      engine.start(EngineContract.DEAF);
      double now = 0;
      for (var row : rows) {
        double at = number(row, "timestamp");
        time.advance(Duration.ofNanos(Math.round((at - now) * MILLI)));
        now = at;
        var ids = row.list("hash_ids");
        var prompt = new int[row.count("input_length")];
        for (int i = 0; i < prompt.length; i++) {
          prompt[i] = ((Number) Objects.requireNonNull(ids.get(i / 4))).intValue();
        }
        var times = new Times();
        engine
            .generate(Requests.endless(prompt, row.count("output_length")), Requests.context())
            .subscribe(times);
        answers.add(times);
      }
      time.advance(Duration.ofSeconds(1));
    }
    for (int i = 0; i < rows.size(); i++) {
      var is = answers.get(i).tokens;
      var should = expected.get(i);
      assertThat(is).as("request %s", i).hasSize(should.count("output_length"));
      assertThat(is.getFirst())
          .as("first of %s", i)
          .isCloseTo(number(should, "first_token_ms"), within(MICROSECOND));
      assertThat(is.getLast())
          .as("last of %s", i)
          .isCloseTo(number(should, "last_token_ms"), within(MICROSECOND));
    }
  }
}

package io.dynamo.router.ingest;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.Instance;
import io.dynamo.discovery.InstanceId;
import io.dynamo.discovery.TransportAddress;
import io.dynamo.kv.KvQuery;
import io.dynamo.kv.KvReply;
import io.dynamo.kv.WorkerRank;
import io.dynamo.net.PayloadFormat;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class RecoveriesTest {
  private static final WorkerRank RANK = new WorkerRank(new InstanceId(1), 0);
  private static final Instance TARGET =
      new Instance(
          new EndpointId("n", "c", "e"),
          RANK.worker(),
          new TransportAddress.Tcp("127.0.0.1:1", "p"),
          "cpu",
          PayloadFormat.MSGPACK);
  private static final KvReply DUMP = new KvReply.TreeDump(List.of(), 0);

  private final ManualAlarm alarm = new ManualAlarm();
  private final List<CompletableFuture<KvReply>> attempts = new ArrayList<>();
  private final List<String> heard = new ArrayList<>();
  private final Recoveries recoveries =
      new Recoveries(
          (_, _) -> {
            var attempt = new CompletableFuture<KvReply>();
            attempts.add(attempt);
            return attempt;
          },
          alarm,
          Runnable::run,
          () -> 0.5);

  private Recoveries.Ticket ask() {
    return recoveries.ask(
        TARGET,
        KvQuery.ofAll(RANK),
        new Recoveries.Listener() {
          @Override
          public void replied(KvReply reply) {
            heard.add(reply.getClass().getSimpleName());
          }

          @Override
          public void exhausted() {
            heard.add("exhausted");
          }
        });
  }

  @Test
  void aReplyIsDeliveredOnce() {
    var _ = ask();
    assertThat(alarm.delays()).containsExactly(Duration.ofNanos(1_500_000));
    alarm.ringAll();
    attempts.getFirst().complete(DUMP);
    assertThat(heard).containsExactly("TreeDump");
    assertThat(alarm.delays()).isEmpty();
  }

  @Test
  void failuresAreRetriedAtDoublingPausesAndEndAfterEight() {
    var _ = ask();
    var pauses = new ArrayList<Long>();
    for (int i = 0; i <= Recoveries.RETRIES; i++) {
      alarm.ringAll();
      if (i % 2 == 0) {
        attempts.getLast().completeExceptionally(new IllegalStateException("cut"));
      } else {
        attempts.getLast().complete(new KvReply.Refused("no"));
      }
      alarm.delays().forEach(delay -> pauses.add(delay.toMillis()));
    }
    assertThat(pauses).containsExactly(200L, 400L, 800L, 1600L, 3200L, 6400L, 12_800L, 25_600L);
    assertThat(attempts).hasSize(Recoveries.RETRIES + 1);
    assertThat(heard).containsExactly("exhausted");
  }

  @Test
  void anAttemptThatTakesTooLongIsGivenUp() {
    var _ = ask();
    alarm.ringAll();
    assertThat(alarm.delays()).containsExactly(Duration.ofSeconds(30));
    alarm.ringAll();
    assertThat(attempts.getFirst()).isCancelled();
    assertThat(alarm.delays()).containsExactly(Duration.ofMillis(200));
  }

  @Test
  void onlySixteenAttemptsRunAtOnce() {
    var tickets = new ArrayList<Recoveries.Ticket>();
    for (int i = 0; i < 20; i++) {
      tickets.add(ask());
    }
    alarm.ringAll();
    assertThat(attempts).hasSize(16);
    attempts.getFirst().complete(DUMP);
    assertThat(attempts).hasSize(17);
    tickets.get(1).cancel();
    assertThat(attempts).hasSize(18);
    tickets.get(19).cancel();
    attempts.get(2).complete(DUMP);
    attempts.get(3).complete(DUMP);
    assertThat(attempts).hasSize(19);
  }

  @Test
  void aCancelledRecoveryIsSilent() {
    var waiting = ask();
    waiting.cancel();
    alarm.ringAll();
    assertThat(attempts).isEmpty();
    var running = ask();
    alarm.ringAll();
    running.cancel();
    running.cancel();
    assertThat(attempts.getFirst()).isCancelled();
    assertThat(heard).isEmpty();
    assertThat(alarm.delays()).isEmpty();
  }
}

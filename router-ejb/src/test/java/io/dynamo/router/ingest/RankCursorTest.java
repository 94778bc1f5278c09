package io.dynamo.router.ingest;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.discovery.InstanceId;
import io.dynamo.kv.KvEvent;
import io.dynamo.kv.KvReply;
import io.dynamo.kv.RankEvent;
import io.dynamo.kv.Residency;
import io.dynamo.kv.StorageTier;
import io.dynamo.kv.WorkerRank;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class RankCursorTest {
  private static final WorkerRank RANK = new WorkerRank(new InstanceId(1), 0);

  private final List<String> log = new ArrayList<>();
  private final List<CursorIncident> counted = new ArrayList<>();
  private final CursorEffects effects =
      new CursorEffects() {
        @Override
        public void apply(RankEvent event) {
          log.add((event.event() instanceof KvEvent.Cleared ? "clear " : "") + event.event().id());
        }

        @Override
        public void reset() {
          log.add("reset");
        }

        @Override
        public void ask(@Nullable Long startId) {
          log.add("ask " + startId);
        }

        @Override
        public void stopAsking() {
          log.add("stop asking");
        }

        @Override
        public void retryLater() {
          log.add("retry later");
        }

        @Override
        public void count(CursorIncident what) {
          counted.add(what);
        }
      };
  private final RankCursor recoverable = new RankCursor(RANK, true, effects);
  private final RankCursor liveOnly = new RankCursor(RANK, false, effects);

  private static RankEvent event(long id) {
    return new RankEvent(RANK, new KvEvent.Removed(id, List.of()));
  }

  private static RankEvent cleared(long id) {
    return new RankEvent(RANK, new KvEvent.Cleared(id));
  }

  private static List<RankEvent> events(long... ids) {
    return LongStream.of(ids).mapToObj(RankCursorTest::event).toList();
  }

  private static void live(RankCursor cursor, long... ids) {
    events(ids).forEach(cursor::receive);
  }

  /** Starts the cursor with an empty rank whose next event is {@code lastId + 1}. */
  private void begun(long lastId) {
    recoverable.begin();
    recoverable.answered(new KvReply.TreeDump(List.of(), lastId));
    log.clear();
    counted.clear();
  }

  @Test
  void aSourceThatCanBeAskedIsAskedForEverythingWhileEventsWait() {
    recoverable.begin();
    live(recoverable, 7, 8);
    assertThat(log).containsExactly("ask null");
    recoverable.answered(new KvReply.TreeDump(events(0, 1, 2), 7));
    assertThat(log).containsExactly("ask null", "reset", "0", "1", "2", "8");
    live(recoverable, 9);
    assertThat(log).endsWith("8", "9");
  }

  @Test
  void theFirstIdOfALiveOnlySourceIsTheCursor() {
    liveOnly.begin();
    live(liveOnly, 41, 42);
    assertThat(log).containsExactly("41", "42");
    assertThat(counted).isEmpty();
  }

  @Test
  void duplicatesAreIgnored() {
    begun(3);
    live(recoverable, 4, 4, 3, 5);
    assertThat(log).containsExactly("4", "5");
    assertThat(counted).containsExactly(CursorIncident.DUPLICATE, CursorIncident.DUPLICATE);
  }

  @Test
  void aGapIsAskedForFromTheCursorOn() {
    begun(3);
    live(recoverable, 6);
    assertThat(log).containsExactly("ask 4");
    live(recoverable, 7);
    recoverable.answered(new KvReply.Events(events(4, 5, 6), 6));
    assertThat(log).containsExactly("ask 4", "4", "5", "6", "7");
    assertThat(counted).contains(CursorIncident.GAP, CursorIncident.GOT_EVENTS);
  }

  @Test
  void aGapThatIsTooOldIsFilledByADump() {
    begun(3);
    live(recoverable, 6);
    recoverable.answered(new KvReply.TreeDump(events(0), 6));
    live(recoverable, 7);
    assertThat(log).containsExactly("ask 4", "reset", "0", "7");
  }

  @Test
  void aGapOfALiveOnlySourceEmptiesTheRank() {
    liveOnly.begin();
    live(liveOnly, 1, 3, 4);
    assertThat(log).containsExactly("1", "reset", "3", "4");
    assertThat(counted).containsExactly(CursorIncident.GAP);
  }

  @Test
  void aClearOfAllSupersedesARecovery() {
    begun(3);
    live(recoverable, 6);
    recoverable.receive(cleared(7));
    assertThat(log).containsExactly("ask 4", "stop asking", "clear 7");
    live(recoverable, 8);
    assertThat(log).endsWith("8");
    recoverable.answered(new KvReply.Events(events(4, 5, 6), 6));
    assertThat(log).endsWith("8");
  }

  @Test
  void aClearOfAllNeedsNothingOfAGapBeforeIt() {
    begun(3);
    recoverable.receive(cleared(9));
    live(recoverable, 10);
    assertThat(log).containsExactly("clear 9", "10");
  }

  @Test
  void aClearOfOneDomainSupersedesNothing() {
    begun(3);
    recoverable.receive(
        new RankEvent(RANK, StorageTier.DEVICE, Residency.WORKER, new KvEvent.Cleared(6), null));
    assertThat(log).containsExactly("ask 4");
  }

  @Test
  void aHoleAmongTheKeptIsAskedForFromTheLastTaken() {
    recoverable.begin();
    live(recoverable, 5, 7);
    recoverable.answered(new KvReply.TreeDump(List.of(), 4));
    assertThat(log).containsExactly("ask null", "reset", "5", "ask 6");
    recoverable.answered(new KvReply.Events(events(6, 7), 7));
    live(recoverable, 8);
    assertThat(log).endsWith("6", "7", "8");
  }

  @Test
  void keptEventsHaveABoundAndTheRestIsAGap() {
    recoverable.begin();
    live(recoverable, LongStream.rangeClosed(1, RankCursor.KEPT_EVENTS + 2L).toArray());
    assertThat(counted).endsWith(CursorIncident.NOT_KEPT, CursorIncident.NOT_KEPT);
    recoverable.answered(new KvReply.TreeDump(List.of(), 0));
    live(recoverable, RankCursor.KEPT_EVENTS + 3L);
    assertThat(log).endsWith("ask " + (RankCursor.KEPT_EVENTS + 1));
  }

  @Test
  void anAnswerThatDoesNotConnectIsReplacedByADump() {
    begun(3);
    live(recoverable, 6);
    recoverable.answered(new KvReply.Events(events(5, 6), 6));
    assertThat(log).containsExactly("ask 4", "ask null");
    recoverable.answered(new KvReply.TreeDump(events(0), 6));
    live(recoverable, 7);
    assertThat(log).endsWith("reset", "0", "7");
  }

  @Test
  void aSourceThatCountsAnewIsAskedForEverything() {
    begun(3);
    live(recoverable, 6);
    recoverable.answered(new KvReply.TooNew(4, 2, 2));
    assertThat(log).containsExactly("ask 4", "ask null");
  }

  @Test
  void nonsenseDoesNotKeepASourceAskingForEver() {
    begun(3);
    live(recoverable, 9);
    for (int i = 0; i < 100 && !log.contains("retry later"); i++) {
      recoverable.answered(
          i % 2 == 0 ? new KvReply.TooNew(1, 1, 1) : new KvReply.TreeDump(List.of(), 5));
    }
    assertThat(log).endsWith("reset", "9", "retry later");
  }

  @Test
  void anExhaustedRecoveryGoesOnLiveAndTriesAgainLater() {
    begun(3);
    live(recoverable, 6, 7, 9);
    recoverable.exhausted();
    assertThat(log).containsExactly("ask 4", "reset", "6", "7", "reset", "9", "retry later");
    live(recoverable, 10);
    recoverable.retry();
    live(recoverable, 11);
    assertThat(log).endsWith("10", "ask null", "11");
    recoverable.answered(new KvReply.TreeDump(events(0), 10));
    assertThat(log).endsWith("reset", "0", "11");
    live(recoverable, 13);
    assertThat(log).endsWith("ask 12");
    assertThat(counted).contains(CursorIncident.EXHAUSTED);
  }

  @Test
  void corruptAnswersFenceTheSource() {
    begun(3);
    live(recoverable, 4, 6);
    var foreign =
        new RankEvent(new WorkerRank(RANK.worker(), 1), new KvEvent.Removed(5, List.of()));
    recoverable.answered(new KvReply.Events(List.of(foreign), 6));
    live(recoverable, 7);
    recoverable.receive(cleared(8));
    assertThat(log).containsExactly("4", "ask 5", "reset");
    assertThat(counted)
        .endsWith(CursorIncident.CORRUPT, CursorIncident.FENCED_OFF, CursorIncident.FENCED_OFF);
  }

  @Test
  void idsAreUnsigned() {
    liveOnly.begin();
    live(liveOnly, Long.MAX_VALUE, Long.MIN_VALUE, Long.MIN_VALUE + 1);
    assertThat(log).hasSize(3).doesNotContain("reset");
  }

  @Test
  void aSourceThatIsHeardAgainIsAskedForWhatWasMissed() {
    begun(3);
    recoverable.connected();
    recoverable.answered(new KvReply.Events(events(4, 5, 6), 6));
    live(recoverable, 7);
    assertThat(log).containsExactly("ask 4", "4", "5", "6", "7");
    assertThat(counted).doesNotContain(CursorIncident.GAP);
  }

  @Test
  void eventsAreTakenWhileASourceIsAskedWhatWasMissed() {
    begun(3);
    recoverable.connected();
    recoverable.connected();
    live(recoverable, 4);
    recoverable.answered(new KvReply.Events(events(4, 5), 5));
    live(recoverable, 5, 6);
    assertThat(log).containsExactly("ask 4", "4", "5", "6");
  }

  @Test
  void aGapIsAskedForAnewWhileASourceIsAskedWhatWasMissed() {
    begun(3);
    recoverable.connected();
    live(recoverable, 4, 7);
    recoverable.answered(new KvReply.Events(events(5, 6, 7), 7));
    live(recoverable, 8);
    assertThat(log).containsExactly("ask 4", "4", "ask 5", "5", "6", "7", "8");
  }

  @Test
  void aSourceThatHadNothingToTellIsInStep() {
    begun(3);
    recoverable.connected();
    live(recoverable, 4);
    recoverable.answered(new KvReply.TooNew(4, 3, 3));
    live(recoverable, 5);
    assertThat(log).containsExactly("ask 4", "4", "5");
    assertThat(counted).containsExactly(CursorIncident.IN_STEP);
  }

  @Test
  void aDumpIsTakenOnlyWhenItTellsMoreThanWasHeard() {
    begun(3);
    recoverable.connected();
    live(recoverable, 4, 5);
    recoverable.answered(new KvReply.TreeDump(events(0), 4));
    recoverable.connected();
    live(recoverable, 6);
    recoverable.answered(new KvReply.TreeDump(events(0), 9));
    live(recoverable, 9, 10);
    assertThat(log).containsExactly("ask 4", "4", "5", "ask 6", "6", "reset", "0", "10");
  }

  @Test
  void aSourceThatDoesNotSayWhatWasMissedIsFollowedOn() {
    begun(3);
    recoverable.connected();
    recoverable.exhausted();
    live(recoverable, 4, 6);
    assertThat(log).containsExactly("ask 4", "4", "ask 5");
    assertThat(counted).doesNotContain(CursorIncident.EXHAUSTED);
  }

  @Test
  void aSourceWhoseIdsBeganAnewIsAskedForEverything() {
    begun(9);
    recoverable.connected();
    recoverable.answered(new KvReply.TooNew(10, 2, 2));
    recoverable.answered(new KvReply.TreeDump(events(0), 2));
    live(recoverable, 3);
    assertThat(log).containsExactly("ask 10", "ask null", "reset", "0", "3");
  }

  @Test
  void eventsAfterATreeDumpAreRequestedOnce() {
    recoverable.begin();
    recoverable.connected();
    recoverable.answered(new KvReply.TreeDump(events(0), 7));
    recoverable.answered(new KvReply.TooNew(8, 7, 7));
    assertThat(log).containsExactly("ask null", "reset", "0", "ask 8");
  }

  @Test
  void aSourceThatIsNotHeardHoldsNothingUntilItIs() {
    begun(3);
    live(recoverable, 4);
    recoverable.disconnected();
    recoverable.disconnected();
    recoverable.connected();
    recoverable.answered(new KvReply.TreeDump(events(0), 9));
    live(recoverable, 10);
    assertThat(log).containsExactly("4", "reset", "ask null", "reset", "0", "10");
  }

  @Test
  void aCutEndsAQuestion() {
    begun(3);
    live(recoverable, 6);
    recoverable.disconnected();
    recoverable.answered(new KvReply.Events(events(4, 5, 6), 6)); // too late
    recoverable.retry();
    assertThat(log).containsExactly("ask 4", "stop asking", "reset");
  }

  @Test
  void anEventShowsThatASourceIsHeard() {
    begun(3);
    recoverable.disconnected();
    live(recoverable, 6);
    recoverable.answered(new KvReply.TreeDump(events(0), 5));
    assertThat(log).containsExactly("reset", "ask null", "reset", "0", "6");
  }

  @Test
  void aLiveOnlySourceBeginsItsAccountAnewAfterACut() {
    liveOnly.begin();
    live(liveOnly, 1, 2);
    liveOnly.disconnected();
    liveOnly.connected();
    live(liveOnly, 9, 10);
    liveOnly.connected();
    assertThat(log).containsExactly("1", "2", "reset", "9", "10");
    assertThat(counted).isEmpty();
  }

  @Test
  void aSourceThatDidNotAnswerIsAskedWhenItIsHeardAgain() {
    recoverable.begin();
    recoverable.exhausted();
    log.clear();
    recoverable.connected();
    recoverable.answered(new KvReply.TreeDump(events(0), 5));
    assertThat(log).containsExactly("ask null", "reset", "0");
  }

  @Test
  void nonsenseIsNotForgivenByACut() {
    recoverable.begin();
    recoverable.answered(
        new KvReply.TreeDump(
            List.of(
                new RankEvent(
                    new WorkerRank(new InstanceId(2), 0), new KvEvent.Removed(1, List.of()))),
            1));
    log.clear();
    recoverable.disconnected();
    recoverable.connected();
    live(recoverable, 2);
    assertThat(log).isEmpty();
  }
}

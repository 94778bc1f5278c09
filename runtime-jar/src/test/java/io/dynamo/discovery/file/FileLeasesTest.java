package io.dynamo.discovery.file;

import static io.dynamo.discovery.file.FileLeases.State.ALIVE;
import static io.dynamo.discovery.file.FileLeases.State.EXPIRED;
import static io.dynamo.discovery.file.FileLeases.State.UNCONFIRMED;
import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.discovery.file.FileLeases.State;
import io.dynamo.discovery.file.FileStatus.Stamp;
import io.dynamo.testing.ManualClock;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Leases of ten seconds, looked at every second. */
class FileLeasesTest {
  private static final Duration TTL = Duration.ofSeconds(10);
  private static final Path FILE = Path.of("record");
  private static final String HOUR = "PT1H";
  private static final String HOUR_BACK = "PT-1H";
  private static final String TWENTY_SECONDS = "PT20S";
  private static final String NINE_SECONDS_BACK = "PT-9S";

  private final ManualClock clock = ManualClock.now();
  private final FileLeases leases = new FileLeases(TTL);
  private Stamp stamp = stamped(clock.instant());

  private static Stamp stamped(Instant at) {
    return new Stamp(FileTime.from(at), 100, 1L);
  }

  private State look() {
    leases.beginLook(clock.instant(), clock.nanoTime().getAsLong());
    return leases.seen(FILE, stamp);
  }

  private State lookAfter(Duration time) {
    clock.advance(time);
    return look();
  }

  /** The owner renews its file, on the clock of all. */
  private void renew() {
    stamp = stamped(clock.instant());
  }

  private int secondsUntilExpired() {
    for (int second = 1; second <= 60; second++) {
      if (lookAfter(Duration.ofSeconds(1)) == EXPIRED) {
        return second;
      }
    }
    return Integer.MAX_VALUE;
  }

  @ParameterizedTest
  @ValueSource(strings = {"PT0S", HOUR, HOUR_BACK, TWENTY_SECONDS, NINE_SECONDS_BACK})
  void aStepOfTheWallClockEndsNoLeaseThatIsRenewed(Duration step) {
    assertThat(look()).isEqualTo(ALIVE);
    clock.step(step);
    for (int i = 0; i < 20; i++) {
      assertThat(lookAfter(Duration.ofSeconds(1))).as("before renewal %d", i).isEqualTo(ALIVE);
      assertThat(lookAfter(Duration.ofSeconds(2))).isEqualTo(ALIVE);
      renew();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"PT0S", HOUR, HOUR_BACK, TWENTY_SECONDS, NINE_SECONDS_BACK})
  void aStepOfTheWallClockKeepsNoDeadRecordLonger(Duration step) {
    assertThat(look()).isEqualTo(ALIVE);

    clock.step(step);

    assertThat(secondsUntilExpired()).isEqualTo(11);
  }

  @ParameterizedTest
  @ValueSource(strings = {HOUR, HOUR_BACK, TWENTY_SECONDS, NINE_SECONDS_BACK})
  void aStepBetweenRenewalAndLookCostsAtMostTheTimeBetweenLooks(Duration step) {
    assertThat(look()).isEqualTo(ALIVE);
    assertThat(lookAfter(Duration.ofSeconds(1))).isEqualTo(ALIVE);
    renew();
    clock.step(step);
    assertThat(look()).isEqualTo(ALIVE);

    assertThat(secondsUntilExpired()).isBetween(10, 11);
  }

  /** Looks are seconds apart, and the lease begins with the renewal, not with the look. */
  @Test
  void aLeaseBeginsWhenTheFileSaysThatItWasRenewed() {
    assertThat(look()).isEqualTo(ALIVE);
    clock.advance(Duration.ofSeconds(1));
    renew();
    assertThat(lookAfter(Duration.ofSeconds(2))).isEqualTo(ALIVE);

    assertThat(secondsUntilExpired()).isEqualTo(9);
  }

  @ParameterizedTest
  @ValueSource(strings = {HOUR, HOUR_BACK, "PT10.001S", "PT-10.001S"})
  void aFileFromFarAwayInTimeCountsOnceItIsRenewed(Duration away) {
    stamp = stamped(clock.instant().minus(away));
    assertThat(look()).isEqualTo(UNCONFIRMED);
    assertThat(lookAfter(Duration.ofSeconds(3))).isEqualTo(UNCONFIRMED);

    renew();

    assertThat(look()).isEqualTo(ALIVE);
  }

  @Test
  void aFileFromFarAwayInTimeThatNobodyRenewsIsDeadAfterALease() {
    stamp = stamped(clock.instant().minus(Duration.ofDays(1)));
    assertThat(look()).isEqualTo(UNCONFIRMED);

    assertThat(secondsUntilExpired()).isEqualTo(11);
  }

  @Test
  void aFileFirstSeenLateInItsLeaseHasAWholeOne() {
    stamp = stamped(clock.instant().minus(Duration.ofSeconds(9)));
    assertThat(look()).isEqualTo(ALIVE);

    assertThat(secondsUntilExpired()).isEqualTo(11);
  }

  @Test
  void ownersGetTimeToRenewAfterTheReaderPaused() {
    assertThat(look()).isEqualTo(ALIVE);

    assertThat(lookAfter(Duration.ofMinutes(5))).isEqualTo(ALIVE);
    renew();
    assertThat(lookAfter(Duration.ofSeconds(3))).isEqualTo(ALIVE);
    assertThat(secondsUntilExpired()).isLessThanOrEqualTo(11);
  }

  @Test
  void anotherFileUnderTheNameIsASignOfLife() {
    assertThat(look()).isEqualTo(ALIVE);
    assertThat(lookAfter(Duration.ofSeconds(5))).isEqualTo(ALIVE);
    stamp = new Stamp(stamp.changed(), stamp.bytes(), 2L);
    assertThat(lookAfter(Duration.ofSeconds(5))).isEqualTo(ALIVE);

    assertThat(lookAfter(Duration.ofSeconds(5))).isEqualTo(ALIVE);
  }

  @Test
  void aFileThatWasGoneBeginsAnew() {
    assertThat(look()).isEqualTo(ALIVE);
    clock.advance(Duration.ofSeconds(4));
    leases.beginLook(clock.instant(), clock.nanoTime().getAsLong());
    clock.advance(Duration.ofSeconds(4));
    renew();

    assertThat(look()).isEqualTo(ALIVE);
    assertThat(secondsUntilExpired()).isEqualTo(11);
  }
}

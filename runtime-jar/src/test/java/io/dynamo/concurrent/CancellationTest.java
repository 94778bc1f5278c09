package io.dynamo.concurrent;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.concurrent.Cancellation.Level;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class CancellationTest {
  private final Cancellation cancellation = new Cancellation();
  private final List<Level> heard = new CopyOnWriteArrayList<>();

  @Test
  void eachLevelIsHeardOnce() {
    cancellation.onCancel(heard::add);
    cancellation.stop();
    cancellation.stop();
    cancellation.kill();
    cancellation.kill();
    cancellation.stop();

    assertThat(heard).containsExactly(Level.STOP, Level.KILL);
  }

  @Test
  void lateCallbackReceivesTheReachedLevel() {
    cancellation.stop();
    cancellation.onCancel(heard::add);
    assertThat(heard).containsExactly(Level.STOP);

    cancellation.kill();
    cancellation.onCancel(heard::add);

    assertThat(heard).containsExactly(Level.STOP, Level.KILL, Level.KILL);
  }

  @Test
  void aListenerThatLeavesHearsNothing() {
    cancellation.onCancel(heard::add).close();
    cancellation.kill();

    assertThat(heard).isEmpty();
  }

  /** The first listener raises the level before the second has heard of the one before. */
  @Test
  void aLevelRaisedWhileAnotherIsToldComesAfterIt() {
    cancellation.onCancel(_ -> cancellation.kill());
    cancellation.onCancel(heard::add);

    cancellation.stop();

    assertThat(heard).containsExactly(Level.STOP, Level.KILL);
  }

  @Test
  void aKillDuringAStopIsHeardAfterItAndNeverBeside() throws InterruptedException {
    var entered = new CountDownLatch(1);
    var release = new CountDownLatch(1);
    cancellation.onCancel(
        level -> {
          heard.add(level);
          entered.countDown();
          awaitQuietly(release);
        });
    var stopping = Thread.ofVirtual().start(cancellation::stop);
    assertThat(entered.await(20, TimeUnit.SECONDS)).isTrue();

    cancellation.kill();
    assertThat(heard).containsExactly(Level.STOP);
    release.countDown();
    stopping.join();

    assertThat(heard).containsExactly(Level.STOP, Level.KILL);
  }

  private static void awaitQuietly(CountDownLatch latch) {
    try {
      assertThat(latch.await(20, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Test
  void aFailingListenerSilencesNobody() {
    cancellation.onCancel(
        _ -> {
          throw new IllegalStateException("thrown by the test");
        });
    cancellation.onCancel(heard::add);

    cancellation.stop();
    cancellation.kill();

    assertThat(heard).containsExactly(Level.STOP, Level.KILL);
  }

  @Test
  void aChildFollowsItsParentAndLeavesItAlone() {
    var child = cancellation.child();
    var other = cancellation.child();
    child.kill();
    assertThat(cancellation.level()).isEqualTo(Level.NONE);

    cancellation.stop();

    assertThat(child.level()).isEqualTo(Level.KILL);
    assertThat(other.level()).isEqualTo(Level.STOP);
  }

  @Test
  void aParentHoldsNoChildThatWasKilledOrDetached() {
    var children = new ArrayList<Cancellation>();
    for (int i = 0; i < 3; i++) {
      children.add(cancellation.child());
    }
    assertThat(cancellation.held()).isEqualTo(3);

    children.get(0).kill();
    children.get(1).detach();
    children.get(1).detach();
    assertThat(cancellation.held()).isEqualTo(1);
    cancellation.kill();

    assertThat(cancellation.held()).isZero();
    assertThat(children.get(1).level()).isEqualTo(Level.NONE);
    assertThat(children.get(2).level()).isEqualTo(Level.KILL);
    assertThat(cancellation.child().level()).isEqualTo(Level.KILL);
  }
}

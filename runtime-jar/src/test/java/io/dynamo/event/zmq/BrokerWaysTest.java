package io.dynamo.event.zmq;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class BrokerWaysTest {
  private final List<String> calls = new ArrayList<>();
  private final BrokerWays ways = new BrokerWays(() -> calls.add("linked"), () -> calls.add("cut"));
  private final PeerLink.Watcher one = ways.add();
  private final PeerLink.Watcher other = ways.add();

  @Test
  void nothingIsMissedWhileTheOtherIsUp() {
    one.up();
    other.up();
    one.down();
    one.cut();
    one.up();

    assertThat(calls).containsExactly("linked");
  }

  @Test
  void recoveryAfterBothBrokersFailedIsReported() {
    one.up();
    other.up();
    one.down();
    other.down();
    other.up();
    one.up();

    assertThat(calls).containsExactly("linked", "linked");
  }

  @Test
  void publishersAreCutOnceWithTheLastWay() {
    one.up();
    other.up();
    one.down();
    one.cut();
    assertThat(calls).containsExactly("linked");

    other.down();
    other.cut();
    assertThat(calls).containsExactly("linked", "cut");

    one.up();
    assertThat(calls).containsExactly("linked", "cut", "linked");
  }

  @Test
  void brokersThatWereNeverThereAreCutOnce() {
    one.cut();
    other.cut();

    assertThat(calls).containsExactly("cut");
  }
}

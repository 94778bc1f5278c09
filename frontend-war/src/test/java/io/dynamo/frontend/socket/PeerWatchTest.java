package io.dynamo.frontend.socket;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.frontend.socket.PeerWatch.Verdict;
import org.junit.jupiter.api.Test;

/** Peers that are silent, and peers whose message does not end. */
class PeerWatchTest {
  private final PeerWatch watch = new PeerWatch();

  @Test
  void aSilentPeerIsAskedAndThenGivenUp() {
    assertThat(watch.look(true, 0)).isEqualTo(Verdict.FINE);
    assertThat(watch.look(false, 0)).isEqualTo(Verdict.SILENT);
    assertThat(watch.look(true, 0)).isEqualTo(Verdict.FINE);
    assertThat(watch.look(false, 0)).isEqualTo(Verdict.SILENT);
    assertThat(watch.look(false, 0)).isEqualTo(Verdict.GONE);
  }

  @Test
  void aMessageThatDoesNotEndIsSeenByItsThirdLook() {
    assertThat(watch.look(true, 1)).isEqualTo(Verdict.FINE);
    assertThat(watch.look(true, 1)).isEqualTo(Verdict.FINE);
    assertThat(watch.look(true, 1)).isEqualTo(Verdict.SLOW);
  }

  @Test
  void manyMessagesThatEndAreNoSlowOne() {
    for (int number = 1; number < 10; number++) {
      assertThat(watch.look(true, number)).isEqualTo(Verdict.FINE);
      assertThat(watch.look(true, number)).isEqualTo(Verdict.FINE);
    }
    assertThat(watch.look(true, 0)).isEqualTo(Verdict.FINE);
    assertThat(watch.look(true, 9)).isEqualTo(Verdict.FINE);
  }
}

package io.dynamo.frontend.media.pixels;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.transfer.nixl.NixlException;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.Test;

class PixelPoolTest {
  private static final long SIZE = 64 * 10;

  static PixelPool pool(long bytes) {
    return PixelPool.opening(AgentOfTests.connector(null), bytes, Runnable::run);
  }

  private static PixelPool.Slot slot(PixelPool pool, long bytes) {
    return Objects.requireNonNull(pool.take(bytes));
  }

  @Test
  void roomIsGivenOnceAndComesBackOnce() {
    try (var pool = pool(SIZE)) {
      var all = slot(pool, SIZE);
      assertThat(all.agent()).startsWith("b64:");
      assertThat(pool.take(1)).isNull();
      all.close();
      all.close();
      assertThat(pool.heldBytes()).isZero();
      slot(pool, SIZE).close();
      assertThat(pool.take(SIZE + 1)).isNull();
    }
  }

  @Test
  void slotsAreWipedAndUsedAgainLate() {
    try (var pool = pool(SIZE)) {
      var first = slot(pool, 64);
      var memory = first.memory();
      memory.fill((byte) 7);
      first.close();
      assertThat(memory.get(ValueLayout.JAVA_BYTE, 5)).isZero();
      assertThat(slot(pool, 64).address()).isNotEqualTo(first.address());
    }
  }

  @Test
  void slotsNeverOverlap() {
    var random = new Random(9);
    try (var pool = pool(SIZE)) {
      var held = new ArrayList<PixelPool.Slot>();
      for (int i = 0; i < 5000; i++) {
        var slot = random.nextBoolean() ? pool.take(1 + random.nextInt(200)) : null;
        if (slot != null) {
          for (var other : held) {
            assertThat(
                    slot.address() + slot.byteSize() <= other.address()
                        || other.address() + other.byteSize() <= slot.address())
                .isTrue();
          }
          held.add(slot);
        } else if (!held.isEmpty()) {
          held.remove(random.nextInt(held.size())).close();
        }
      }
      held.forEach(PixelPool.Slot::close);
      slot(pool, SIZE).close();
    }
  }

  @Test
  void thereIsNoRoomWithoutNixl() {
    var absent = new NixlException(NixlException.Reason.ABSENT, "NIXL is not here");
    try (var pool = PixelPool.opening(AgentOfTests.connector(absent), SIZE, Runnable::run)) {
      assertThat(pool.mayHold(1)).isFalse();
      assertThat(pool.take(1)).isNull();
    }
  }

  @Test
  void aClosedPoolHasNoRoom() {
    var pool = pool(SIZE);
    var slot = slot(pool, 64);
    pool.close();
    assertThat(pool.take(1)).isNull();
    slot.close();
  }
}

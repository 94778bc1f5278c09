package io.dynamo.frontend.admission;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.frontend.ApiException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

class BodyBudgetTest {
  private static final int FREE = 100;
  private static final long MEBIBYTE = 1 << 20;

  private final AtomicLong nanos = new AtomicLong(-5);
  private final BodyBudget budget =
      new BodyBudget(new BodyBudget.Limits(1000, 600, FREE), nanos::get);

  private BodyBudget.Share arrived(int bytes) {
    var share = budget.open();
    share.chargeArrived(bytes);
    return share;
  }

  private static void refused(int status, ThrowingCallable taking) {
    assertThatThrownBy(taking)
        .isInstanceOfSatisfying(
            ApiException.class, e -> assertThat(e.error().status()).isEqualTo(status));
  }

  @Test
  void stalledUploadsYieldToNewUploads() {
    var emptied = new ArrayList<Integer>();
    var stalled = new ArrayList<BodyBudget.Share>();
    for (int i = 0; i < 4; i++) {
      int number = i;
      var share = arrived(350);
      share.onYield(() -> emptied.add(number));
      stalled.add(share);
      nanos.addAndGet(1000);
    }
    assertThat(budget.heldBytes()).isEqualTo(1000);

    try (var small = arrived(FREE)) {
      assertThat(emptied).isEmpty();
      small.chargeComplete(FREE + 1);
      assertThat(emptied).containsExactly(0); // the one that has held most for longest
    }
    try (var large = arrived(FREE + 600)) {
      assertThat(emptied).containsExactly(0, 1, 2);
      assertThat(budget.heldBytes()).isEqualTo(850);
      large.chargeComplete(FREE + 700);
      refused(503, () -> stalled.getFirst().chargeArrived(400));
      refused(503, () -> stalled.get(2).chargeComplete(400));
    }
    stalled.getLast().chargeArrived(400);
    stalled.forEach(BodyBudget.Share::close);
    assertThat(budget.heldBytes()).isZero();
  }

  /** As bodies are read: the memory to free is known before the first byte has arrived. */
  @Test
  void anUploadWhoseFirstBytesWereFreeIsEmptiedWhenItYields() {
    var emptied = new AtomicBoolean();
    try (var stalled = budget.open();
        var next = budget.open()) {
      stalled.onYield(() -> emptied.set(true));
      stalled.chargeArrived(FREE);
      stalled.chargeArrived(FREE + 900);
      nanos.addAndGet(1000);
      next.chargeArrived(FREE + 200);
      assertThat(emptied).isTrue();
    }
  }

  @Test
  void aBodyThatIsGivenUpIsEmptiedOnceAndACompleteOneIsKept() {
    var emptied = new AtomicInteger();
    try (var share = budget.open();
        var complete = budget.open()) {
      share.onYield(emptied::incrementAndGet);
      share.chargeArrived(FREE + 300);
      complete.chargeComplete(FREE + 100);
      share.giveUp();
      share.giveUp();
      complete.giveUp();
      assertThat(emptied).hasValue(1);
      assertThat(budget.heldBytes()).isEqualTo(100);
      refused(503, () -> share.chargeArrived(FREE + 400));
    }
    assertThat(budget.heldBytes()).isZero();
  }

  @Test
  void theSlowestIsRefusedItselfWhenItWantsMore() {
    try (var slow = arrived(900)) {
      nanos.addAndGet(1_000_000);
      try (var quick = arrived(250)) {
        refused(503, () -> slow.chargeArrived(1000));
        quick.chargeArrived(260);
      }
    }
    assertThat(budget.heldBytes()).isZero();
  }

  @Test
  void runningRequestsDoNotYield() {
    try (var working = budget.open();
        var next = budget.open()) {
      working.chargeArrived(500);
      working.chargeComplete(FREE + 900);
      refused(503, () -> next.chargeArrived(FREE + 101));
      next.chargeArrived(FREE + 100);
      working.chargeComplete(500);
      next.chargeComplete(FREE + 600);
    }
    assertThat(budget.heldBytes()).isZero();
  }

  @Test
  void aRequestLargerThanTheBudgetIs413() {
    try (var share = budget.open()) {
      assertThatThrownBy(() -> share.chargeComplete(1101))
          .isInstanceOfSatisfying(
              ApiException.class,
              e -> {
                assertThat(e.error().status()).isEqualTo(413);
                assertThat(e).hasMessageContaining("1101 bytes").hasMessageContaining("1000 bytes");
              });
      share.chargeComplete(1100);
    }
  }

  @Test
  void oneModelLeavesRoomForOthersToWait() {
    var waiting = new ArrayList<AutoCloseable>();
    var shares = new ArrayList<BodyBudget.Share>();
    for (var model : List.of("saturated", "saturated", "saturated", "other")) {
      var share = budget.open();
      shares.add(share);
      share.chargeComplete(FREE + 100);
      waiting.add(share.park(model));
    }
    try (var more = budget.open()) {
      more.chargeComplete(FREE + 100);
      refused(429, () -> more.park("saturated"));
      try (var _ = more.park("third")) {
        assertThat(budget.waitingBytes()).isEqualTo(500);
        assertThat(budget.heldBytes()).isZero();
      }
      assertThat(budget.heldBytes()).isEqualTo(100);
    }
    try (var small = budget.open()) {
      small.chargeComplete(FREE);
      small.park("saturated").close();
    }
    assertThat(waiting).hasSize(4);
    shares.forEach(BodyBudget.Share::close); // their requests ended while they waited
  }

  @Test
  void gatheredAnswersAreChargedUntilTheyEnd() {
    try (var answering = budget.open();
        var upload = arrived(FREE + 300)) {
      answering.chargeComplete(FREE + 100);
      answering.gather(500);
      assertThat(budget.heldBytes()).isEqualTo(900);
      answering.gather(400); // the upload yields
      assertThat(budget.heldBytes()).isEqualTo(1000);
      refused(503, () -> upload.chargeArrived(FREE + 301));
      refused(503, () -> answering.gather(1));
    }
    assertThat(budget.heldBytes()).isZero();
  }

  @Test
  void theAreasArePartsOfTheHeap() {
    var limits = BodyBudget.Limits.ofHeap(1024 * MEBIBYTE, 4096);
    assertThat(limits).isEqualTo(new BodyBudget.Limits(320 * MEBIBYTE, 64 * MEBIBYTE, 16 * 1024));
    assertThat(BodyBudget.Limits.ofHeap(256 * MEBIBYTE, 4096).freeBytes() * 4096L)
        .isEqualTo(16 * MEBIBYTE);
  }

  @Test
  void memoryBesideTheHeapIsFreedOnceAtTheEndOfItsRequest() {
    var freed = new AtomicInteger();
    var share = budget.open();
    share.onClose(freed::incrementAndGet);
    share.onClose(freed::incrementAndGet);
    assertThat(freed).hasValue(0);
    share.close();
    share.close();
    assertThat(freed).hasValue(2);
    share.onClose(freed::incrementAndGet);
    assertThat(freed).as("at once").hasValue(3);
  }

  @Test
  void aClosedShareGathersNothing() {
    var share = budget.open();
    share.gather(400);
    share.close();

    share.gather(-400);

    assertThat(budget.heldBytes()).isZero();
    refused(503, () -> share.gather(1));
    assertThat(budget.heldBytes()).isZero();
  }
}

package io.dynamo.natives;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests the JNI layer over lenders and loans. The core has tests in C++, with other processes. */
class RegionLoansTest {
  private static final int SIZE = 100_000;
  private static final long LEASE = 5;
  private static final long LONG = Duration.ofSeconds(20).toNanos();

  private final byte[] name =
      ("dynamo-test-" + UUID.randomUUID()).getBytes(StandardCharsets.US_ASCII);
  private final byte[] secret = new byte[RegionLoans.SECRET_BYTES];
  private final long region = NativeTransfer.allocateShared(SIZE);
  private final long lender = RegionLoans.openLender(name);

  @AfterEach
  void close() {
    RegionLoans.closeLender(lender);
    NativeTransfer.release(region);
    assertThat(NativeTransfer.heldBytes()).isZero();
  }

  private static NativeStatus status(long result) {
    return NativeStatus.of(result);
  }

  @Test
  void aLoanGivesARegionOverTheSameBytes() {
    assertThat(RegionLoans.lend(lender, LEASE, secret, region, LONG, false)).isZero();
    long loan = RegionLoans.ask(name, LEASE, secret, false);
    assertThat(loan).isNotNegative();
    long borrowed = RegionLoans.await(loan, SIZE, LONG);
    assertThat(borrowed).isPositive();
    NativeTransfer.writeArray(borrowed, SIZE - 1, new byte[] {9}, 0, 1);
    var back = new byte[1];
    NativeTransfer.readArray(region, SIZE - 1, back, 0, 1);
    assertThat(back).containsExactly(9);
    assertThat(status(NativeTransfer.freeze(region))).isEqualTo(NativeStatus.BUSY);
    NativeTransfer.release(borrowed);
    assertThat(NativeTransfer.freeze(region)).isZero();
    RegionLoans.closeLoan(loan);
    assertThat(status(RegionLoans.await(loan, SIZE, 0))).isEqualTo(NativeStatus.CANCELLED);
  }

  /** A copy is of the lease when the lease is confirmed after it. */
  @Test
  void aLoanToReadIsConfirmedUntilItsLeaseEnds() {
    assertThat(RegionLoans.lend(lender, LEASE, secret, region, LONG, true)).isZero();
    long keeper = RegionLoans.openKeeper();
    long loan = RegionLoans.ask(name, LEASE, secret, true);
    long borrowed = RegionLoans.await(loan, SIZE, LONG);
    NativeTransfer.writeArray(region, SIZE - 1, new byte[] {9}, 0, 1);
    var back = new byte[1];
    NativeTransfer.readArray(borrowed, SIZE - 1, back, 0, 1);
    assertThat(back).containsExactly(9);
    assertThat(RegionLoans.confirm(loan)).isZero();
    assertThat(status(RegionLoans.confirmKept(keeper, name, LEASE, secret)))
        .isEqualTo(NativeStatus.STALE);
    assertThat(RegionLoans.keep(keeper, loan)).isZero();
    assertThat(status(RegionLoans.confirm(loan))).as("handed over").isEqualTo(NativeStatus.STALE);
    assertThat(RegionLoans.confirmKept(keeper, name, LEASE, secret)).isZero();
    assertThat(RegionLoans.find(keeper, name, LEASE, secret, SIZE, true)).isEqualTo(borrowed);
    assertThat(status(RegionLoans.find(keeper, name, LEASE, secret, SIZE, false)))
        .as("to write")
        .isEqualTo(NativeStatus.STALE);
    RegionLoans.endLease(lender, LEASE);
    assertThat(status(RegionLoans.confirmKept(keeper, name, LEASE, secret)))
        .isEqualTo(NativeStatus.STALE);
    RegionLoans.closeKeeper(keeper);
    assertThat(status(RegionLoans.confirmKept(keeper, name, LEASE, secret)))
        .isEqualTo(NativeStatus.STALE);
    assertThat(status(RegionLoans.confirmKept(-1, name, LEASE, new byte[3])))
        .isEqualTo(NativeStatus.STALE);
  }

  @Test
  void invalidArgumentsAreRefused() {
    assertThat(lender).isNotNegative();
    assertThat(status(RegionLoans.openLender(name))).isEqualTo(NativeStatus.BUSY);
    assertThat(status(RegionLoans.openLender(new byte[0]))).isEqualTo(NativeStatus.INVALID);
    assertThat(status(RegionLoans.openLender(new byte[RegionLoans.MAX_NAME_BYTES + 1])))
        .isEqualTo(NativeStatus.INVALID);
    assertThat(status(RegionLoans.lend(lender, LEASE, new byte[31], region, LONG, false)))
        .isEqualTo(NativeStatus.INVALID);
    assertThat(status(RegionLoans.lend(lender, LEASE, secret, 12345, LONG, false)))
        .isEqualTo(NativeStatus.STALE);
    for (long stale : new long[] {-1, 77, Long.MAX_VALUE, Long.MIN_VALUE}) {
      assertThat(status(RegionLoans.lend(stale, LEASE, secret, region, LONG, false)))
          .isEqualTo(NativeStatus.STALE);
      assertThat(status(RegionLoans.await(stale, SIZE, 0))).isEqualTo(NativeStatus.CANCELLED);
      RegionLoans.endLease(stale, LEASE);
      RegionLoans.closeLoan(stale);
      RegionLoans.closeLender(stale);
    }
    assertThat(status(RegionLoans.ask(name, LEASE, new byte[33], false)))
        .isEqualTo(NativeStatus.INVALID);
    assertThat(status(RegionLoans.ask(new byte[65], LEASE, secret, false)))
        .isEqualTo(NativeStatus.INVALID);
    long loan = RegionLoans.ask(name, LEASE, secret, false);
    assertThat(status(RegionLoans.await(loan, 0, LONG))).isEqualTo(NativeStatus.INVALID);
    assertThat(status(RegionLoans.await(loan, SIZE, LONG))).isEqualTo(NativeStatus.STALE);
    RegionLoans.closeLoan(loan);
    long plain = NativeTransfer.allocate(8);
    assertThat(status(NativeTransfer.freeze(plain))).isEqualTo(NativeStatus.INVALID);
    assertThat(status(RegionLoans.lend(lender, LEASE, secret, plain, LONG, false)))
        .isEqualTo(NativeStatus.INVALID);
    NativeTransfer.release(plain);
    assertThat(status(NativeTransfer.freeze(plain))).isEqualTo(NativeStatus.STALE);
    assertThat(status(NativeTransfer.allocateShared(-1))).isEqualTo(NativeStatus.INVALID);
  }

  @Test
  void aLenderThatIsClosedIsGone() {
    RegionLoans.lend(lender, LEASE, secret, region, LONG, false);
    RegionLoans.closeLender(lender);
    assertThat(status(RegionLoans.ask(name, LEASE, secret, false)))
        .isEqualTo(NativeStatus.PEER_LOST);
    assertThat(status(RegionLoans.lend(lender, LEASE, secret, region, LONG, false)))
        .isEqualTo(NativeStatus.STALE);
    long next = RegionLoans.openLender(name); // the name is free
    assertThat(next).isNotNegative().isNotEqualTo(lender);
    RegionLoans.closeLender(next);
  }

  /** Tests that the end of a lease reaches readers also when its lender closes at that moment. */
  @Test
  void aLeaseThatEndsWhileItsLenderClosesIsOver() throws Exception {
    for (int round = 0; round < 200; round++) {
      var ownName = ("dynamo-test-" + UUID.randomUUID()).getBytes(StandardCharsets.US_ASCII);
      long closing = RegionLoans.openLender(ownName);
      assertThat(RegionLoans.lend(closing, LEASE, secret, region, LONG, true)).isZero();
      long loan = RegionLoans.ask(ownName, LEASE, secret, true);
      long borrowed = RegionLoans.await(loan, SIZE, LONG);
      var closer = Thread.ofPlatform().start(() -> RegionLoans.closeLender(closing));
      long next = LEASE + 1;
      while (status(RegionLoans.lend(closing, next, secret, region, LONG, true))
          != NativeStatus.STALE) {
        next++;
      }
      RegionLoans.endLease(closing, LEASE);
      assertThat(status(RegionLoans.confirm(loan))).isEqualTo(NativeStatus.STALE);
      closer.join();
      NativeTransfer.release(borrowed);
      RegionLoans.closeLoan(loan);
    }
  }
}

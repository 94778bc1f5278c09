package io.dynamo.transfer.jni;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.transfer.RegionAddress.Permission;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Tests which leases of a region may run by shared memory at the same time. */
class SharedUsesTest {
  private static final Duration LONG = Duration.ofHours(1);
  private static final long REGION = 7;

  private final SharedUses uses = new SharedUses();

  @Test
  void aRegionHasOneKindOfLeases() {
    var first = requireNonNull(uses.begin(REGION, Permission.READ, LONG));
    var second = requireNonNull(uses.begin(REGION, Permission.READ, LONG));
    assertThat(uses.begin(REGION, Permission.WRITE, LONG)).isNull();
    assertThat(uses.begin(REGION + 1, Permission.WRITE, LONG)).isNotNull();
    uses.end(first);
    uses.end(first);
    assertThat(uses.begin(REGION, Permission.WRITE, LONG)).isNull();
    uses.end(second);
    assertThat(uses.begin(REGION, Permission.WRITE, LONG)).isNotNull();
    assertThat(uses.begin(REGION, Permission.READ, LONG)).isNull();
  }

  @Test
  void aLeaseForReadsThatNobodyClosesIsForgottenAfterItsTime() {
    for (int i = 0; i < 3; i++) {
      assertThat(uses.begin(REGION + i, Permission.READ, Duration.ZERO)).isNotNull();
    }
    assertThat(uses.begin(REGION, Permission.WRITE, LONG)).isNotNull();
    assertThat(uses.size()).isEqualTo(1);
  }

  /** Its end, however late, takes the pages away from readers. */
  @Test
  void aLeaseForWritesLastsUntilItIsClosed() {
    var late = requireNonNull(uses.begin(REGION, Permission.WRITE, Duration.ZERO));
    assertThat(uses.begin(REGION, Permission.READ, LONG)).isNull();
    uses.end(late);
    assertThat(uses.begin(REGION, Permission.READ, LONG)).isNotNull();
  }
}

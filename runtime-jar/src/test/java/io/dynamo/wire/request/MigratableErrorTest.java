package io.dynamo.wire.request;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.error.ErrorCode;
import io.dynamo.error.Migratable;
import io.dynamo.error.WorkerLostException;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class MigratableErrorTest {
  @ParameterizedTest
  @EnumSource(ErrorCode.class)
  void aLossIsMigratableForTheRequesterToo(ErrorCode code) {
    if (code.isMigratable()) {
      var lost = new WorkerLostException(code, "gone");
      assertThat(DynamoError.of(lost).toException()).isInstanceOf(Migratable.class);
    } else {
      assertThatThrownBy(() -> new WorkerLostException(code, "gone"))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining(code.name());
    }
  }
}

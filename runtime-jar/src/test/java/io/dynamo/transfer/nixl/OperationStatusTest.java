package io.dynamo.transfer.nixl;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.transfer.nixl.OperationStatus.Step;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class OperationStatusTest {
  @ParameterizedTest
  @CsvSource({
    "UNINITIALIZED, OFFERED, INITIALIZED",
    "UNINITIALIZED, POSTED, INITIALIZED",
    "UNINITIALIZED, POLLED, UNINITIALIZED",
    "UNINITIALIZED, DONE, COMPLETE",
    "UNINITIALIZED, FAILED, ERRORED",
    "UNINITIALIZED, CANCELLED, CANCELLED",
    "INITIALIZED, OFFERED, INITIALIZED",
    "INITIALIZED, POSTED, INITIALIZED",
    "INITIALIZED, POLLED, IN_PROGRESS",
    "INITIALIZED, DONE, COMPLETE",
    "INITIALIZED, FAILED, ERRORED",
    "INITIALIZED, CANCELLED, CANCELLED",
    "IN_PROGRESS, OFFERED, IN_PROGRESS",
    "IN_PROGRESS, POSTED, IN_PROGRESS",
    "IN_PROGRESS, POLLED, IN_PROGRESS",
    "IN_PROGRESS, DONE, COMPLETE",
    "IN_PROGRESS, FAILED, ERRORED",
    "IN_PROGRESS, CANCELLED, CANCELLED"
  })
  void stepsLeadToTheNextStatus(OperationStatus from, Step step, OperationStatus to) {
    assertThat(from.after(step)).isEqualTo(to);
  }

  @ParameterizedTest
  @EnumSource(
      value = OperationStatus.class,
      names = {"COMPLETE", "CANCELLED", "ERRORED"})
  void nothingChangesAFinalStatus(OperationStatus last) {
    assertThat(last.isFinal()).isTrue();
    for (var step : Step.values()) {
      assertThat(last.after(step)).isEqualTo(last);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "UNINITIALIZED, 0, <invalid>",
    "INITIALIZED, 1, INIT",
    "IN_PROGRESS, 2, PROC",
    "COMPLETE, 3, DONE",
    "CANCELLED, 4, STOP",
    "ERRORED, 5, ERR"
  })
  void numbersAndTextsAreTheOriginals(OperationStatus status, int number, String text) {
    assertThat(status.number()).isEqualTo(number);
    assertThat(status).hasToString(text);
  }
}

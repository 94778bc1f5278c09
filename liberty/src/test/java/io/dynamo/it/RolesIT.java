package io.dynamo.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** A server answers for its roles and for no other. */
@Execution(ExecutionMode.CONCURRENT)
class RolesIT {
  @Test
  void workerServesNoFrontend() throws Exception {
    try (var worker = ServerProcess.Plan.named("role-worker").roles("worker").start()) {
      worker.awaitReady();

      assertThat(worker.get("/v1/models").statusCode()).isIn(404, 503);
      Polling.until(
          "the console names what is served",
          Duration.ofSeconds(30),
          () -> worker.console().contains("\"tiny\": engine mock, "));
    }
  }

  @Test
  void roleFileFixesTheRoleWhateverTheEnvironmentSays() throws Exception {
    var plan =
        ServerProcess.Plan.named("role-file").roles("frontend,router").jvm("-Ddynamo.role=worker");
    try (var worker = plan.start()) {
      worker.awaitReady();

      assertThat(worker.get("/v1/models").statusCode()).isIn(404, 503);
    }
  }

  @Test
  void unknownRoleIsRefusedByTheVariableThatNamesIt() {
    try (var server = ServerProcess.Plan.named("role-typo").roles("wrker").start()) {
      server.awaitExit();

      assertThat(server.exitStatus()).isEqualTo(78);
      assertThat(server.console())
          .contains("dynamo.roles = \"wrker\" (from the variable DYNAMO_ROLES)");
    }
  }
}

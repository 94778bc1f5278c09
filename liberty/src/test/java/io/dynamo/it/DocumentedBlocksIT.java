package io.dynamo.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** The blocks of commands in the pages, without running them. */
class DocumentedBlocksIT {
  @Test
  void everyBlockIsRunByATestOrSaysWhyNot() throws Exception {
    var blocks = DocumentedBlock.all();

    assertThat(blocks).hasSizeGreaterThan(20);
    assertThat(blocks)
        .as("put <!-- left out of the tests: reason --> above blocks that no test can run")
        .allMatch(block -> block.reason() != null || block.kind() != null);
  }

  @Test
  void everyShellBlockIsASentenceOfTheShell() throws Exception {
    for (var block : DocumentedBlock.all()) {
      if (!block.isPython()) {
        var shell = new ProcessBuilder("bash", "-n").redirectErrorStream(true).start();
        try (var input = shell.outputWriter()) {
          input.write(block.text());
        }
        var printed = new String(shell.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(shell.waitFor(10, TimeUnit.SECONDS)).isTrue();
        assertThat(shell.exitValue()).as("%s: %s", block.place(), printed).isZero();
      }
    }
  }

  @Test
  void expectedOutputIsReadFromComments() {
    var lines =
        List.of("```sh", "curl a", "#  … \"b\":{…} … c", "# a remark", "```", "```", "d", "```");

    var block = DocumentedBlock.of("page", lines).getFirst();

    assertThat(DocumentedBlock.of("page", lines)).hasSize(1);
    assertThat(block.expected()).containsExactly("\"b\":{", "}", "c");
    assertThat(block.kind()).isEqualTo(DocumentedBlock.Kind.REQUESTS);
    assertThat(block.place()).isEqualTo("page:1");
  }

  @Test
  void aMarkAboveABlockLeavesItOutWithItsReason() {
    var lines = List.of("<!-- left out of the tests: takes a day -->", "```sh", "make", "```");

    assertThat(DocumentedBlock.of("page", lines).getFirst().reason()).isEqualTo("takes a day");
    assertThat(DocumentedBlock.of("page", lines.subList(1, 4)).getFirst().reason()).isNull();
  }
}

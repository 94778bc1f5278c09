package io.dynamo.config.router;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The router's page against the code. */
class RouterPageTest {
  private static final Path PAGE = Path.of("..", "docs", "router.md");
  private static final Pattern DEFAULT =
      Pattern.compile("(?m)^\\| `(dynamo\\.router\\.[a-z-]+)` \\| `([^`]+)` \\|");

  @Test
  void everySettingIsOnThePage() throws IOException {
    var page = Files.readString(PAGE);
    for (var key : RouterKeys.all()) {
      assertThat(page).contains(key.name().replaceFirst("dynamo\\.router\\.", ""));
    }
  }

  @Test
  void theDefaultsThatDifferFromDynamosAreThoseOfTheCode() throws IOException {
    var rows = DEFAULT.matcher(Files.readString(PAGE)).results().toList();
    assertThat(rows).hasSize(6);
    for (var row : rows) {
      assertThat(RouterKeys.all())
          .as(row.group(1))
          .anyMatch(key -> key.name().equals(row.group(1)) && key.standard().equals(row.group(2)));
    }
  }
}

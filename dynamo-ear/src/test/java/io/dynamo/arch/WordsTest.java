package io.dynamo.arch;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Finds first sentences of Javadoc, and names of types, that break the rules of docs/style.md. */
class WordsTest {
  /** Types whose name is a bare participle or a metaphor. */
  private static final Pattern TYPE =
      Pattern.compile(
          "\\b(?:class|record|interface|enum)"
              + " (Asked|Told|Begun|Said|Held|Placed|Heard|Clockwork|Desk|Doorbell|Trail|Entrance)\\b");

  private static final Pattern JAVADOC = Pattern.compile("/\\*\\*(.*?)\\*/", Pattern.DOTALL);

  /** Riddles: a sentence that begins with a question word, or that hides who does what. */
  private static final Pattern RIDDLE =
      Pattern.compile(
          "^(?:What|Whatever|Who|Whoever|Whom|Whose)\\b"
              + "|\\b(?:told|unheard|begun|whatever|by their own word|of whom|to whom)\\b"
              + "|^It is [a-z]+ed\\.$",
          Pattern.CASE_INSENSITIVE);

  @ParameterizedTest
  @ValueSource(
      strings = {
        "native-nar",
        "runtime-jar",
        "router-ejb",
        "frontend-war",
        "worker-war",
        "cli-jar"
      })
  void firstSentencesAndNamesOfTypesArePlain(String module) throws IOException {
    var riddles = new ArrayList<String>();
    var names = new ArrayList<String>();
    for (var file : sources(module)) {
      var text = Files.readString(file);
      JAVADOC
          .matcher(text)
          .results()
          .map(found -> firstSentence(found.group(1)))
          .filter(sentence -> RIDDLE.matcher(sentence).find())
          .forEach(sentence -> riddles.add(file.getFileName() + ": " + sentence));
      TYPE.matcher(text)
          .results()
          .forEach(found -> names.add(file.getFileName() + ": " + found.group(1)));
    }
    assertThat(riddles).as("first sentences of %s", module).isEmpty();
    assertThat(names).as("types of %s", module).isEmpty();
  }

  @Test
  void riddlesAreFound() {
    var sentences =
        Map.of(
            " * What it is known of that ranks hold, by their own word.", true,
            " * It is settled.", true,
            " * The reader is told of the end.", true,
            " * Looks up which prefix blocks each rank has reported as cached.", false);
    sentences.forEach(
        (sentence, isRiddle) ->
            assertThat(RIDDLE.matcher(firstSentence(sentence)).find())
                .as(sentence)
                .isEqualTo(isRiddle));
  }

  private static List<Path> sources(String module) throws IOException {
    try (var files = Files.walk(Path.of("..", module, "src", "main", "java"))) {
      var sources = files.filter(file -> file.toString().endsWith(".java")).sorted().toList();
      assertThat(sources).as("sources of %s", module).isNotEmpty();
      return sources;
    }
  }

  private static String firstSentence(String javadoc) {
    var text = javadoc.replaceAll("(?m)^\\s*\\*", " ").replaceAll("\\s+", " ").strip();
    int end = text.indexOf(". ");
    return end < 0 ? text : text.substring(0, end + 1);
  }
}

package io.dynamo.arch;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Finds first sentences of Javadoc, names of types and tests, and pages that break the rules of
 * docs/style.md.
 */
class WordsTest {
  private static final Path ROOT = Path.of("..");

  /** Types whose name is a bare participle or a metaphor. */
  private static final Pattern TYPE =
      Pattern.compile(
          "\\b(?:class|record|interface|enum)"
              + " (Asked|Told|Begun|Said|Held|Placed|Heard|Folded|Faulty|Watched|Found|Dialled|Hosted"
              + "|Booked|Outgoing|Following|Carried|Called|Kept|Learned|Taken|Way"
              + "|Clockwork|Desk|Doorbell|Trail|Entrance)\\b");

  /** Test methods whose name is a question instead of a sentence. */
  private static final Pattern TEST =
      Pattern.compile("\\bvoid ((?:what|whatever|who|whoever|whom|whose)[A-Z]\\w*)\\(");

  private static final Pattern JAVADOC = Pattern.compile("/\\*\\*(.*?)\\*/", Pattern.DOTALL);

  /** Riddles: a sentence that begins with a question word, or that hides who does what. */
  private static final Pattern RIDDLE =
      Pattern.compile(
          "^(?:What|Whatever|Who|Whoever|Whom|Whose)\\b"
              + "|\\b(?:told|unheard|begun|whatever|by their own word|of whom|to whom)\\b"
              + "|^It is [a-z]+ed\\.$",
          Pattern.CASE_INSENSITIVE);

  /** Words that no page has. */
  private static final Pattern PAGE =
      Pattern.compile("\\b(?:told|unheard|whatever|whoever)\\b", Pattern.CASE_INSENSITIVE);

  @ParameterizedTest
  @ValueSource(
      strings = {
        "native-nar",
        "runtime-jar",
        "router-ejb",
        "frontend-war",
        "worker-war",
        "cli-jar",
        "dynamo-ear",
        "liberty"
      })
  void firstSentencesAndNamesArePlain(String module) throws IOException {
    var riddles = new ArrayList<String>();
    var types = new ArrayList<String>();
    var tests = new ArrayList<String>();
    var sources = files(ROOT.resolve(module).resolve("src"), ".java");
    assertThat(sources).as("sources of %s", module).isNotEmpty();
    for (var file : sources) {
      var text = Files.readString(file);
      JAVADOC
          .matcher(text)
          .results()
          .map(found -> firstSentence(found.group(1)))
          .filter(sentence -> RIDDLE.matcher(sentence).find())
          .forEach(sentence -> riddles.add(file.getFileName() + ": " + sentence));
      addNames(TYPE, file, text, types);
      addNames(TEST, file, text, tests);
    }
    assertThat(riddles).as("first sentences of %s", module).isEmpty();
    assertThat(types).as("types of %s", module).isEmpty();
    assertThat(tests).as("tests of %s", module).isEmpty();
  }

  @Test
  void pagesArePlain() throws IOException {
    var pages = new ArrayList<>(files(ROOT.resolve("docs"), ".md"));
    for (var page : List.of("README.md", "CONTRIBUTING.md", "CHANGELOG.md")) {
      pages.add(ROOT.resolve(page));
    }
    pages.remove(ROOT.resolve("docs/style.md")); // lists examples of riddles
    var riddles = new ArrayList<String>();
    for (var page : pages) {
      Files.readString(page)
          .lines()
          .filter(line -> PAGE.matcher(line).find())
          .forEach(line -> riddles.add(page.getFileName() + ": " + line));
    }
    assertThat(riddles).isEmpty();
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

  @ParameterizedTest
  @CsvSource({
    "class, Heard, true",
    "record, Told, true",
    "interface, Following, true",
    "enum, Learned, true",
    "class, Recorder, false",
    "record, ToldError, false"
  })
  void participlesAreFound(String kind, String name, boolean isFound) {
    assertThat(TYPE.matcher(kind + " " + name + " {").find()).isEqualTo(isFound);
  }

  @ParameterizedTest
  @CsvSource({
    "whatIsNoNewsIsCounted, true",
    "whoeverAsksIsAnswered, true",
    "undecodableEventsAreCounted, false",
    "wholeAnswersAreCounted, false"
  })
  void questionsAsTestsAreFound(String name, boolean isFound) {
    assertThat(TEST.matcher("  void " + name + "() {").find()).isEqualTo(isFound);
  }

  @ParameterizedTest
  @CsvSource({
    "Routers are told of each block, true",
    "It ends whatever ends the request, true",
    "Routers are notified of each block, false"
  })
  void riddlesOfPagesAreFound(String line, boolean isFound) {
    assertThat(PAGE.matcher(line).find()).isEqualTo(isFound);
  }

  private static void addNames(Pattern pattern, Path file, String text, List<String> to) {
    pattern
        .matcher(text)
        .results()
        .forEach(found -> to.add(file.getFileName() + ": " + found.group(1)));
  }

  private static List<Path> files(Path folder, String suffix) throws IOException {
    try (Stream<Path> files = Files.walk(folder)) {
      return files.filter(file -> file.toString().endsWith(suffix)).sorted().toList();
    }
  }

  private static String firstSentence(String javadoc) {
    var text = javadoc.replaceAll("(?m)^\\s*\\*", " ").replaceAll("\\s+", " ").strip();
    int end = text.indexOf(". ");
    return end < 0 ? text : text.substring(0, end + 1);
  }
}

package io.dynamo.it;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A block of commands in README.md, CONTRIBUTING.md or a page of {@code docs}.
 *
 * @param place the page and the block's line
 * @param language as stated behind the fence
 * @param reason why the tests leave the block out, from the comment above it; null when they run it
 */
record DocumentedBlock(String place, String language, String text, @Nullable String reason) {
  private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
  private static final Pattern LEFT_OUT =
      Pattern.compile("<!-- left out of the tests: (\\S.*?) -->\\s*");
  private static final String FENCE = "```";
  private static final String EXPECTED = "#  …";

  /** Which server a block talks to. */
  enum Kind {
    /** One that runs already. */
    REQUESTS,
    /** Those that it starts itself, with Maven. */
    STARTS,
    /** Those that it starts itself, from the runnable archive. */
    ARCHIVE
  }

  /** Returns the blocks of shell commands and of Python in all pages, in their order. */
  static List<DocumentedBlock> all() throws IOException {
    var blocks = new ArrayList<DocumentedBlock>();
    for (var page : pages()) {
      blocks.addAll(of(ROOT.relativize(page).toString(), Files.readAllLines(page)));
    }
    return blocks;
  }

  /** Returns the blocks that are run with one kind of server. */
  static List<DocumentedBlock> of(Kind kind) throws IOException {
    return all().stream().filter(block -> block.reason() == null && block.kind() == kind).toList();
  }

  private static List<Path> pages() throws IOException {
    try (var docs = Files.walk(ROOT.resolve("docs"))) {
      return Stream.concat(
              Stream.of(ROOT.resolve("README.md"), ROOT.resolve("CONTRIBUTING.md")),
              docs.filter(file -> file.toString().endsWith(".md")).sorted())
          .toList();
    }
  }

  static List<DocumentedBlock> of(String page, List<String> lines) {
    var blocks = new ArrayList<DocumentedBlock>();
    for (int i = 0; i < lines.size(); i++) {
      var fence = lines.get(i);
      if (!fence.startsWith(FENCE)) {
        continue;
      }
      int begin = i++;
      var text = new StringBuilder();
      while (!lines.get(i).startsWith(FENCE)) {
        text.append(lines.get(i++)).append('\n');
      }
      var language = fence.substring(FENCE.length()).strip();
      if (language.equals("sh") || language.equals("python")) {
        var above = begin == 0 ? "" : lines.get(begin - 1);
        var mark = LEFT_OUT.matcher(above);
        var place = page + ":" + (begin + 1);
        blocks.add(
            new DocumentedBlock(
                place, language, text.toString(), mark.matches() ? mark.group(1) : null));
      }
    }
    return blocks;
  }

  boolean isPython() {
    return language.equals("python");
  }

  /** Returns the kind; null when the tests have no way to run the block. */
  @Nullable Kind kind() {
    if (isPython()) {
      return Kind.REQUESTS;
    }
    if (commands().anyMatch(command -> command.matches("([A-Z_]+=\\S+ )*(\\S*/)?dynamo .*"))) {
      return Kind.ARCHIVE;
    }
    if (commands().anyMatch(command -> command.contains("mvn liberty:run"))) {
      return Kind.STARTS;
    }
    var first = commands().findFirst().orElse("");
    return first.matches("(\\w+=\\$\\()?curl .*") ? Kind.REQUESTS : null;
  }

  private Stream<String> commands() {
    return text.lines().filter(line -> !line.isBlank() && !line.startsWith("#"));
  }

  /**
   * The pieces that the output must have, in this order: of comments that begin with an ellipsis.
   */
  List<String> expected() {
    return text.lines()
        .filter(line -> line.startsWith(EXPECTED))
        .flatMap(line -> Stream.of(line.substring(1).split("…")))
        .map(String::strip)
        .filter(piece -> !piece.isEmpty())
        .toList();
  }

  @Override
  public String toString() {
    return place;
  }
}

package io.dynamo.frontend.preprocess.jinja;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Operations of templates stay within bounds of time and memory for every input. */
class JinjaBoundsTest {
  private static final int LENGTH = 1 << 20;
  private static final JinjaTemplate.Limits LIMITS =
      new JinjaTemplate.Limits(Clock.systemUTC(), 1 << 24, Duration.ofMinutes(5));
  private static final JinjaTemplate.Limits NO_TIME =
      new JinjaTemplate.Limits(Clock.systemUTC(), LENGTH, Duration.ZERO);

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{{ x }}",
        "{{ x ~ x }}",
        "{{ x * 3 }}",
        "{{ x[1:] }}",
        "{{ x[999] }}",
        "{{ x.replace('a', 'b') }}",
        "{{ x | upper }}",
        "{{ x.split() | length }}",
        "{% if 'b' in x %}{% endif %}",
        "{% if x == x %}{% endif %}",
        "{% if x is lower %}{% endif %}",
        "{% for c in x %}{% endfor %}",
        "{{ [[x]] | tojson }}",
        "{% filter upper %}a{% endfilter %}"
      })
  void clockIsLookedAtAfterEachOperationThatGrowsWithItsText(String template) {
    var values = Map.of("x", "a ".repeat(1000));
    assertThatThrownBy(() -> render(template, values, NO_TIME))
        .isInstanceOf(JinjaException.class)
        .hasMessageContaining("runs longer than");
  }

  @Test
  void renderingOfAnInterruptedThreadEnds() {
    Thread.currentThread().interrupt();
    try {
      assertThatThrownBy(() -> render("{{ x | upper }}", Map.of("x", "a"), LIMITS))
          .isInstanceOf(JinjaException.class)
          .hasMessageContaining("no longer waits");
    } finally {
      assertThat(Thread.interrupted()).isTrue();
    }
  }

  @Test
  void clockIsLookedAtWithinFiltersThatRunOthers() {
    for (var filter : List.of("map('upper')", "select('string')", "sum(start='')")) {
      assertThatThrownBy(() -> Filters.apply(name(filter), List.of("a", "b"), inputs(filter)))
          .hasMessageContaining("runs longer than");
    }
  }

  private static String name(String filter) {
    return filter.substring(0, filter.indexOf('('));
  }

  private static Inputs inputs(String filter) {
    return new Inputs(
        filter.startsWith("map")
            ? List.of("upper")
            : filter.startsWith("sel") ? List.of("string") : List.of(),
        filter.startsWith("sum") ? Map.of("start", "") : Map.of(),
        new TimeLimit(Duration.ZERO));
  }

  /** An object for each character takes more than fifty times its room. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '@',
      value = {
        "{{ x[10:20] }}@aaaaaaaaaa",
        "{{ x[-3:] }}@aaa",
        "{{ x[:4:2] }}@aa",
        "{{ x | first }}@a",
        "{{ x | last }}@a",
        "{{ x.startswith('a', 5) }}@True"
      })
  void partOfLongTextIsTakenWithoutAnObjectForEachCharacter(String template, String expected) {
    var values = Map.of("x", "a".repeat(LENGTH));
    long bytes = allocated(() -> assertThat(render(template, values, LIMITS)).isEqualTo(expected));
    assertThat(bytes).as("bytes allocated").isLessThan(8L * LENGTH);
  }

  @Test
  void longTextIsNotWalkedThroughByCharacters() {
    var values = Map.of("x", "a".repeat(LENGTH));
    assertThatThrownBy(() -> render("{% for c in x %}{% endfor %}", values, LIMITS))
        .hasMessageContaining("one by one, at most 100000");
  }

  @Test
  void wordsAreSplitWithoutCopyingTheRestForEach() {
    var values = Map.of("x", "word ".repeat(20_000));
    long bytes =
        allocated(
            () ->
                assertThat(render("{{ x.split() | length }}", values, LIMITS)).isEqualTo("20000"));
    assertThat(bytes).as("bytes allocated").isLessThan(64L * 5 * 20_000);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '@',
      value = {
        "{{ ' a  b c '.split() }}@['a', 'b', 'c']",
        "{{ ' a  b c '.split(none, 1) }}@['a', 'b c']",
        "{{ ' a  b c '.split(none, 0) }}@['a  b c']",
        "{{ '  '.split() }}@[]",
        "{{ 'a,b,c'.rsplit(',', 1) }}@['a,b', 'c']",
        "{{ 'a😀bc'[1:3] }}@😀b",
        "{{ 'a😀bc'[::-1] }}@cb😀a",
        "{{ 'a😀bc'[-1:0:-2] }}@c😀",
        "{{ 'a😀bc'[5:] }}@",
        "{{ '😀' | last }}@😀",
        "{{ (1,) }}{{ () }}{{ [] }}{{ {} }}@(1,)()[]{}",
        "{{ {'a': ['\\x01', '\\u0300', none]} }}@{'a': ['\\x01', '̀', None]}",
        "{{ [3, 1, 2] | sort(reverse=true) }}@[3, 2, 1]",
        "{{ ['b', 'A'] | min }}{{ ['b', 'A'] | max }}@Ab",
        "{{ 1.25 | round(2000000000) }}@1.25"
      })
  void resultsAreThoseOfPython(String template, String expected) {
    assertThat(render(template, Map.of(), LIMITS)).isEqualTo(expected == null ? "" : expected);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{{ [1] | batch(2000000000, 0) | length }}",
        "{{ [1] | slice(2000000000) | length }}",
        "{{ ([1] * 100000) * 100000 }}",
        "{{ {1: 1, 'a': 2} | tojson(sort_keys=true) }}",
        "{% set ns = namespace(x=[]) %}{% for i in range(100000) %}{% set ns.x = [ns.x] %}{% endfor"
            + " %}{{ ns.x }}"
      })
  void hugeOrOddValuesAreRefused(String template) {
    assertThatThrownBy(() -> render(template, Map.of(), LIMITS)).isInstanceOf(JinjaException.class);
  }

  @Test
  void manyDifferentListsAreNotMadeUnique() {
    var lists = new ArrayList<Object>();
    for (int i = 0; i < 1000; i++) {
      lists.add(List.of(i));
    }
    assertThatThrownBy(() -> render("{{ x | unique | list }}", Map.of("x", lists), LIMITS))
        .hasMessageContaining("more than 256");
  }

  @Test
  void indentedJsonIsBounded() {
    Object nested = new ArrayList<>(java.util.Collections.nCopies(3000, 1));
    for (int i = 0; i < 100; i++) {
      nested = List.of(nested);
    }
    var values = Map.of("x", nested);
    assertThatThrownBy(() -> render("{{ (x | tojson(indent=100)) | length }}", values, LIMITS))
        .isInstanceOf(JinjaException.class)
        .hasMessageContaining("exceeds");
  }

  /** Text around a captured block counts against the limit while it is captured. */
  @Test
  void textsThatAreCapturedWithinEachOtherCountTogether() {
    var template =
        """
        {%- macro m(n) -%}{{ 'a' * 40000 }}{%- if n -%}{%- set y = m(n - 1) -%}{%- endif -%}\
        {%- endmacro -%}{%- set z = m(40) -%}\
        """;
    assertThatThrownBy(() -> render(template, Map.of(), limits(1 << 16)))
        .hasMessageContaining("exceeds 65536 characters");
    assertThat(render(template, Map.of(), LIMITS)).isEmpty();
  }

  @Test
  void moreThanCanBePrintedIsNotTakenIn() {
    var values = Map.of("x", "a".repeat(5000));
    assertThatThrownBy(() -> render("", values, limits(1000)))
        .hasMessageContaining("more than 4000 characters and values");
    assertThat(render("", values, limits(2000))).isEmpty();
  }

  @Test
  void longPartsAreFoundWhereJavaFindsThem() {
    var random = new Random(7);
    for (int round = 0; round < 2000; round++) {
      var text = ofTwoLetters(random, 400);
      int from = random.nextInt(300);
      var part =
          random.nextBoolean()
              ? text.substring(from, from + 65 + random.nextInt(30))
              : ofTwoLetters(random, 70);
      int end = text.length() - random.nextInt(50);
      assertThat(Search.first(text, part, from)).isEqualTo(text.indexOf(part, from));
      assertThat(Search.first(text, part, 0)).isEqualTo(text.indexOf(part));
      assertThat(Search.last(text, part, end)).isEqualTo(text.substring(0, end).lastIndexOf(part));
    }
  }

  /** Repeats itself much, so that parts nearly match in many places. */
  private static String ofTwoLetters(Random random, int length) {
    var text = new StringBuilder();
    while (text.length() < length) {
      text.append("a".repeat(1 + random.nextInt(60))).append('b');
    }
    return text.substring(0, length);
  }

  private static JinjaTemplate.Limits limits(int maxLength) {
    return new JinjaTemplate.Limits(Clock.systemUTC(), maxLength, Duration.ofMinutes(5));
  }

  private static String render(
      String template, Map<String, ?> values, JinjaTemplate.Limits limits) {
    return JinjaTemplate.compile(template).render(values, limits);
  }

  private static long allocated(Runnable task) {
    var threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long before = threads.getCurrentThreadAllocatedBytes();
    task.run();
    return threads.getCurrentThreadAllocatedBytes() - before;
  }
}

package io.dynamo.trace;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The examples of the standard, and what it forbids. */
class TraceContextTest {
  private static final String TRACE = "0af7651916cd43dd8448eb211c80319c";
  private static final String SPAN = "b7ad6b7169203331";
  private static final String PARENT = "00-" + TRACE + "-" + SPAN + "-01";

  @Test
  void aParentIsReadAndWrittenBack() {
    var context = requireNonNull(TraceContext.parse(PARENT, null));
    assertThat(context).isEqualTo(new TraceContext(TRACE, SPAN, true, null));
    assertThat(context.traceparent()).isEqualTo(PARENT);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "00",
        "00-" + TRACE + "-" + SPAN,
        "ff-" + TRACE + "-" + SPAN + "-01",
        "00-" + TRACE + "-" + SPAN + "-01-more",
        "00-" + TRACE + "-" + SPAN + "-1",
        "00-0AF7651916CD43DD8448EB211C80319C-" + SPAN + "-01",
        "00-00000000000000000000000000000000-" + SPAN + "-01",
        "00-" + TRACE + "-0000000000000000-01",
        "00-" + TRACE + "0-" + SPAN + "-01",
        "0-" + TRACE + "-" + SPAN + "-01",
        "01-" + TRACE + "-" + SPAN + "-01more"
      })
  void malformedTraceParentsAreIgnored(String text) {
    assertThat(TraceContext.parse(text, null)).isNull();
  }

  @Test
  void aVersionToComeIsReadAsFarAsItIsKnownAndWrittenAsOurs() {
    var context = requireNonNull(TraceContext.parse("cc-" + TRACE + "-" + SPAN + "-09-what", null));
    assertThat(context.traceparent()).isEqualTo("00-" + TRACE + "-" + SPAN + "-01");
    var unsampled = requireNonNull(TraceContext.parse("cc-" + TRACE + "-" + SPAN + "-fe", null));
    assertThat(unsampled.isSampled()).isFalse();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE",
        "rojo=1 , ,congo=2",
        "fw529a3039@dt=FfFf, a/b*c-d_e=!"
      })
  void aStateIsPassedOnAsItCame(String state) {
    assertThat(requireNonNull(TraceContext.parse(PARENT, state)).state()).isEqualTo(state);
  }

  @ParameterizedTest
  @ValueSource(strings = {" ", "Rojo=1", "rojo", "rojo=a=b", "rojo=a\nb", "=1", "rojo=\u00e4"})
  void aBadStateIsDroppedAndTheParentKept(String state) {
    assertThat(requireNonNull(TraceContext.parse(PARENT, state)).state()).isNull();
  }

  @Test
  void headersGetTheContextInPlaceOfTheirs() {
    var context = new TraceContext(TRACE, SPAN, false, null);
    assertThat(context.in(Map.of("traceparent", "x", "tracestate", "y", "x-request-id", "z")))
        .containsExactlyInAnyOrderEntriesOf(
            Map.of("traceparent", "00-" + TRACE + "-" + SPAN + "-00", "x-request-id", "z"));
  }
}

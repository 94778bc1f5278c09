package io.dynamo.frontend.openai;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.frontend.apidoc.DescribedOperations;
import io.dynamo.frontend.kserve.NamedModel;
import java.util.HashSet;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The paths below {@code /v2}. */
class KserveRouteTest {
  private static final NamedModel TINY = new NamedModel("tiny", "");

  @Test
  void pathsHaveTheirRoutes() {
    assertThat(KserveRoute.of("")).isEqualTo(new KserveRoute.Server());
    assertThat(KserveRoute.of("/health/live")).isEqualTo(new KserveRoute.Live());
    assertThat(KserveRoute.of("/health/ready")).isEqualTo(new KserveRoute.Ready());
    assertThat(KserveRoute.of("/repository/index")).isEqualTo(new KserveRoute.Index());
    assertThat(KserveRoute.of("/models/tiny")).isEqualTo(new KserveRoute.Model(TINY));
    assertThat(KserveRoute.of("/models/tiny/ready")).isEqualTo(new KserveRoute.ModelReady(TINY));
    assertThat(KserveRoute.of("/models/tiny/config")).isEqualTo(new KserveRoute.Config(TINY));
    assertThat(KserveRoute.of("/models/tiny/infer")).isEqualTo(new KserveRoute.Infer(TINY));
    assertThat(KserveRoute.of("/models/tiny/stats")).isEqualTo(new KserveRoute.Statistics(TINY));
    assertThat(KserveRoute.of("/models/stats"))
        .isEqualTo(new KserveRoute.Statistics(new NamedModel("", "")));
    assertThat(KserveRoute.of("/models/tiny/generate"))
        .isEqualTo(new KserveRoute.Generate(TINY, false));
    assertThat(KserveRoute.of("/models/tiny/generate_stream"))
        .isEqualTo(new KserveRoute.Generate(TINY, true));
  }

  @Test
  void versionsAndSlashesBelongToTheModel() {
    assertThat(KserveRoute.of("/models/org/tiny/versions/1/infer"))
        .isEqualTo(new KserveRoute.Infer(new NamedModel("org/tiny", "1")));
    assertThat(KserveRoute.of("/models/org/tiny/versions/1"))
        .isEqualTo(new KserveRoute.Model(new NamedModel("org/tiny", "1")));
    assertThat(KserveRoute.of("/models/ready"))
        .isEqualTo(new KserveRoute.Model(new NamedModel("ready", "")));
  }

  @Test
  void encodedSlashesAreNoneOfThePath() {
    assertThat(KserveRoute.of("/models/x%2Fready"))
        .isEqualTo(new KserveRoute.Model(new NamedModel("x/ready", "")));
    assertThat(KserveRoute.of("/models/x%2fready/ready"))
        .isEqualTo(new KserveRoute.ModelReady(new NamedModel("x/ready", "")));
    assertThat(KserveRoute.of("/models/a+%C3%A9%2Fversions%2F1/versions/2%2F3"))
        .isEqualTo(new KserveRoute.Model(new NamedModel("a+é/versions/1", "2/3")));
  }

  @Test
  void otherPathsHaveNone() {
    for (var path : new String[] {"/models", "/models/", "/models/tiny/", "/health", "/x"}) {
      assertThat(KserveRoute.of(path)).as(path).isNull();
    }
  }

  @Test
  void everyRouteIsDescribedWithItsMethod() {
    var described = new HashSet<Class<?>>();
    for (var operation : DescribedOperations.all()) {
      var words = operation.split(" ", 2);
      if (words[1].startsWith(KserveServlet.ROOT)) {
        var route = KserveRoute.of(words[1].substring(KserveServlet.ROOT.length()));
        assertThat(route).as(operation).isNotNull();
        assertThat(Objects.requireNonNull(route).method()).as(operation).isEqualTo(words[0]);
        described.add(route.getClass());
      }
    }
    assertThat(described).isEqualTo(leaves(KserveRoute.class).collect(Collectors.toSet()));
  }

  private static Stream<Class<?>> leaves(Class<?> type) {
    return type.isSealed()
        ? Stream.of(type.getPermittedSubclasses()).flatMap(KserveRouteTest::leaves)
        : Stream.of(type);
  }
}

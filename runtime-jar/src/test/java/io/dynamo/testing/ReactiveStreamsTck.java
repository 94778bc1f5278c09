package io.dynamo.testing;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Comparator;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.DynamicTest;
import org.reactivestreams.tck.TestEnvironment;
import org.reactivestreams.tck.flow.FlowPublisherVerification;
import org.testng.SkipException;

/** Runs the Reactive Streams compatibility kit, written for TestNG, as tests of JUnit. */
public final class ReactiveStreamsTck {
  private static final long PATIENCE_MILLIS = 2_000;
  private static final long SILENCE_MILLIS = 20; // that counts as "no further signal"
  private static final long POLL_MILLIS = 5;

  private ReactiveStreamsTck() {}

  /** The waits of the kit. */
  public static TestEnvironment environment() {
    return new TestEnvironment(PATIENCE_MILLIS, SILENCE_MILLIS, POLL_MILLIS);
  }

  /**
   * A test for each rule, in the order of their names; rules that do not apply are aborted.
   *
   * @param fresh makes a verification, one for each rule
   */
  public static Stream<DynamicTest> rules(Supplier<FlowPublisherVerification<?>> fresh) {
    return Arrays.stream(FlowPublisherVerification.class.getMethods())
        .map(Method::getName)
        .filter(name -> name.matches("(required|optional|stochastic)_.*"))
        .sorted(Comparator.naturalOrder())
        .map(name -> DynamicTest.dynamicTest(name, () -> run(fresh.get(), name)));
  }

  private static void run(FlowPublisherVerification<?> verification, String rule) throws Throwable {
    verification.setUp();
    try {
      FlowPublisherVerification.class.getMethod(rule).invoke(verification);
    } catch (InvocationTargetException e) {
      if (e.getCause() instanceof SkipException skipped) {
        Assumptions.abort(String.valueOf(skipped.getMessage()));
      }
      throw e.getCause();
    }
  }
}

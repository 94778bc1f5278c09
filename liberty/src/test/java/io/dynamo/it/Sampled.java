package io.dynamo.it;

import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Marks test classes of the full tier. {@code .ci/full} runs all of them, the default tier one in
 * four: which ones follows from {@code -Ddynamo.it.seed}, that {@code .ci/test} sets to the commit
 * and prints.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Inherited
@ExtendWith(Sampled.Condition.class)
@interface Sampled {
  /** Draws by the class's name and the seed. */
  final class Condition implements ExecutionCondition {
    private static final String ALL = "all";
    private static final int ONE_IN = 4;

    @Override
    public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
      var seed = System.getProperty("dynamo.it.seed", "");
      var name = context.getRequiredTestClass().getName();
      return isDrawn(name, seed)
          ? ConditionEvaluationResult.enabled("drawn by the seed '" + seed + "'")
          : ConditionEvaluationResult.disabled(
              "not in the sample of the seed '%s'; -Ddynamo.it.seed=all runs it".formatted(seed));
    }

    /** Whether the seed draws all classes. */
    static boolean drawsAll(String seed) {
      return seed.isEmpty() || seed.equals(ALL);
    }

    static boolean isDrawn(String name, String seed) {
      return drawsAll(seed) || Math.floorMod((name + seed).hashCode() * 0x9E3779B9, ONE_IN) == 0;
    }
  }
}

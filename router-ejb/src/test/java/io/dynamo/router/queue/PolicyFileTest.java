package io.dynamo.router.queue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.dynamo.config.router.RouterSettings;
import io.dynamo.config.router.RouterSettings.QueuePolicy;
import io.dynamo.json.Yaml;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PolicyFileTest {
  private static final PolicyProfile OTHERWISE = PolicyProfile.of(RouterSettings.Queueing.STANDARD);
  private static final String WHOLE =
      """
      default_policy_family: standard  # what says nothing
      uncached_isl_buckets:
        - {min_tokens: 0, bucket: short}
        - min_tokens: 2048
          bucket: "long"
      policy_classes:
        - name: standard-short
          policy_family: standard
          cache_bucket: short
          queue_policy: wspt
          quantum: 4096
          prefill_busy_threshold_frac: 2
        - name: standard-long
          policy_family: standard
          cache_bucket: long
          quantum: 1024
          prefill_busy_threshold: 100000
          request_queue_limit_per_worker: 8
          raw_isl_token_queue_limit_per_worker: 200000
          cached_token_queue_limit_per_worker: 0
        - name: batch
          quantum: 1
      models:
        big/model:
          default_policy_family: f
          uncached_isl_buckets: [{min_tokens: 0, bucket: all}]
          policy_classes: [{name: one, policy_family: f, cache_bucket: all, quantum: 7}]
      """;

  private static PolicyFile read(String yaml) {
    return PolicyFile.of(Yaml.readObject(yaml));
  }

  private static String classOf(PolicyProfile profile, @Nullable String asked, long tokens) {
    return profile.classes().get(profile.classOf(asked, tokens)).name();
  }

  @Test
  void aRequestIsInTheClassThatItNamesOrThatItsTokensSay() {
    var profile = read(WHOLE).of("any", OTHERWISE);
    assertThat(classOf(profile, null, 0)).isEqualTo("standard-short");
    assertThat(classOf(profile, null, 2047)).isEqualTo("standard-short");
    assertThat(classOf(profile, null, 2048)).isEqualTo("standard-long");
    assertThat(classOf(profile, "standard", 1 << 20)).isEqualTo("standard-long");
    assertThat(classOf(profile, "batch", 1 << 20)).isEqualTo("batch");
    assertThat(classOf(profile, "standard-long", 1)).isEqualTo("standard-long");
    assertThat(classOf(profile, "unheard-of", 1)).isEqualTo("standard-short");
    assertThat(profile.waits()).isTrue();
  }

  @Test
  void everyPartOfAClassIsRead() {
    var profile = read(WHOLE).of("any", OTHERWISE);
    assertThat(profile.classes())
        .containsExactly(
            new PolicyClass("standard-short", QueuePolicy.WSPT, 4096, null, 2.0, null, null, null),
            new PolicyClass(
                "standard-long", QueuePolicy.FCFS, 1024, 100_000L, null, 8L, 200_000L, 0L),
            new PolicyClass("batch", QueuePolicy.FCFS, 1, null, null, null, null, null));
    assertThat(profile.classes().get(0).isBusy(201, 100)).isTrue();
    assertThat(profile.classes().get(0).isBusy(200, 100)).isFalse();
    assertThat(profile.classes().get(1).isBusy(100_001, 1)).isTrue();
    assertThat(profile.classes().get(2).waits()).isFalse();
  }

  @Test
  void aModelsOwnClassesReplaceThoseForAll() {
    var file = read(WHOLE);
    assertThat(file.of("big/model", OTHERWISE).classes())
        .singleElement()
        .extracting(PolicyClass::name)
        .isEqualTo("one");
    var models = read(WHOLE.substring(WHOLE.indexOf("models:")));
    assertThat(models.of("small", OTHERWISE)).isSameAs(OTHERWISE);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "quantum: 4096 | quantum: 0 | quantum",
        "quantum: 4096 | quantum: 1.5 | quantum",
        "quantum: 4096 | quantum: -1 | quantum",
        "queue_policy: wspt | queue_policy: lcfs | fcfs or wspt",
        "frac: 2 | frac: -0.5 | prefill_busy_threshold_frac",
        "min_tokens: 2048 | min_tokens: 0 | rise",
        "{min_tokens: 0, | {min_tokens: 1, | begin at 0",
        "name: batch | name: standard-long | two policy classes",
        "name: batch | name: 'b c' | letters",
        "default_policy_family: standard | default_policy_family: gold | gold",
        "cache_bucket: long | cache_bucket: longer | longer",
        "cache_bucket: long | cache_bucket: short | two policy classes of family",
        "cache_bucket: long | weight: 3 | weight",
        "models: | worker_selection: {} | worker_selection",
        "'    policy_family: standard' | '    request_queue_limit_per_worker: 1' | both or neither",
      })
  void invalidPolicyFieldsAreRefusedByName(String good, String bad, String said) {
    assertThat(WHOLE).contains(good);
    int at = WHOLE.indexOf(good);
    var wrong =
        good.startsWith("models")
            ? WHOLE.substring(0, at) + bad
            : WHOLE.substring(0, at) + bad + WHOLE.substring(at + good.length());
    assertThatIllegalArgumentException().isThrownBy(() -> read(wrong)).withMessageContaining(said);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {"{} | no classes", "default_policy_family: f | lacks"})
  void aFileWithoutClassesIsRefused(String yaml, String said) {
    assertThatIllegalArgumentException().isThrownBy(() -> read(yaml)).withMessageContaining(said);
  }

  @Test
  void aFileThatCannotBeReadIsNamed(@TempDir Path folder) throws IOException {
    var file = folder.resolve("policies.yaml");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> PolicyFile.read(file))
        .withMessageContaining("policies.yaml");
    Files.writeString(file, "a: b: c");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> PolicyFile.read(file))
        .withMessageContaining("not YAML");
    Files.writeString(file, "- a");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> PolicyFile.read(file))
        .withMessageContaining("not a mapping");
    Files.writeString(file, "[".repeat(100));
    assertThatIllegalArgumentException().isThrownBy(() -> PolicyFile.read(file));
    Files.writeString(file, WHOLE);
    assertThat(PolicyFile.read(file).of("any", OTHERWISE).classes()).hasSize(3);
  }
}

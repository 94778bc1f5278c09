package io.dynamo.arch;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static java.util.Objects.requireNonNull;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import java.util.LinkedHashMap;
import java.util.SequencedMap;
import java.util.function.BiPredicate;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import org.jspecify.annotations.NullMarked;

/** The rules, for all classes below one root package. Immutable. */
final class ArchitectureRules {
  private static final Pattern WIRING = Pattern.compile("(.+\\.)?(wiring|health)");
  private static final Pattern JAX_RS =
      Pattern.compile("frontend|frontend\\.(admin|apidoc|console|openai|pages)");
  // A fault-tolerance leg is a CDI class bean: interceptors do not reach what a producer returns.
  private static final Pattern LEGS = Pattern.compile("frontend\\.dispatch");
  private static final Pattern CONFIG = Pattern.compile("config");
  private static final Pattern NETTY =
      Pattern.compile("pipeline(\\..+)?|net|(.+\\.)?tcp|discovery\\.etcd|frontend\\.grpc");
  private static final Pattern KUBERNETES = Pattern.compile("discovery\\.kubernetes");
  private static final Pattern ETCD = Pattern.compile("discovery\\.etcd");
  private static final Pattern GRPC = Pattern.compile("frontend\\.grpc");
  private static final Pattern PROTOBUF = Pattern.compile("frontend\\.kserve");
  private static final Pattern JACKSON =
      Pattern.compile("json|wire|frontend\\.openai(\\..+)?|frontend\\.preprocess");
  private static final Pattern YAML = Pattern.compile("json");
  private static final Pattern HASHES = Pattern.compile("token");
  private static final Pattern TOKENIZERS = Pattern.compile("frontend\\.preprocess");
  private static final Pattern RESPONSES = Pattern.compile("frontend\\.responses");
  private static final Pattern BATCHES = Pattern.compile("frontend\\.batches");
  private static final Pattern COMMAND_LINE = Pattern.compile("cli");
  private static final Pattern OPEN_TELEMETRY = Pattern.compile("trace\\.otlp");
  private static final Pattern NATS = Pattern.compile("(.+\\.)?nats");
  private static final Pattern NAMES_THAT_SAY_NOTHING =
      Pattern.compile("(.+\\.)?(util|utils|common|impl|dto)(\\..+)?");
  private static final Pattern SUFFIXES_THAT_SAY_NOTHING =
      Pattern.compile(".*(Impl|Helper|Utils?)");

  private final String root;
  private final PackageTable table;

  ArchitectureRules(String root) {
    this.root = root;
    this.table = new PackageTable(root);
  }

  /** Each rule by its name, which is a sentence about the code. */
  SequencedMap<String, ArchRule> byName() {
    var rules = new LinkedHashMap<String, ArchRule>();
    rules.put("modulesImportAlongTheArrows", ours(table::mayImportModuleOf));
    rules.put("runtimePackagesImportTheirRowAndThoseBelow", ours(table::mayImportRowOf));
    rules.put("everyPackageOfTheRuntimeHasARow", each("have a row", table::knows));
    rules.put("theFrontendSeesOnlyTheDoorOfTheRouter", ours(this::respectsTheRoutersDoor));
    rules.put("theDoorOfTheRouterKnowsNothingBehindIt", ours(this::doorStaysInFront));
    rules.put("theRuntimeReachesNativesOnlyFromTransferJni", ours(this::reachesNativesByTransfer));
    rules.put("jakartaStaysInTheShell", confined("jakarta.", WIRING, JAX_RS, LEGS));
    rules.put(
        "microProfileStaysInTheShell",
        confined("org.eclipse.microprofile.", WIRING, JAX_RS, CONFIG, LEGS));
    rules.put("nettyStaysInPipelineNetAndTcp", confined("io.netty.", NETTY));
    rules.put("jacksonStaysAtTheEdges", confined("com.fasterxml.jackson.", JACKSON));
    rules.put("yamlStaysBesideJson", confined("org.yaml.", YAML));
    rules.put("hashesStayInToken", confined("com.dynatrace.hash4j.", HASHES));
    rules.put("tokenizersStayInPreprocess", confined("ai.djl.", TOKENIZERS));
    rules.put("jdbcStaysBesideResponses", confined("java.sql.", RESPONSES, BATCHES));
    rules.put("h2StaysBesideResponses", confined("org.h2.", RESPONSES));
    rules.put("postgresqlStaysBesideResponses", confined("org.postgresql.", RESPONSES));
    rules.put("msgpackIsForTestsAlone", confined("org.msgpack."));
    rules.put("zeroMqIsForTestsAlone", confined("org.zeromq."));
    rules.put("etcdStaysInItsPackage", confined("io.etcd.", ETCD));
    rules.put("kubernetesStaysInItsPackage", confined("io.fabric8.", KUBERNETES));
    rules.put("grpcStaysAtItsPortAndBesideEtcd", confined("io.grpc.", GRPC, ETCD));
    rules.put("protobufStaysBesideKserve", confined("com.google.protobuf.", PROTOBUF));
    rules.put("openTelemetryStaysInItsPackage", confined("io.opentelemetry.", OPEN_TELEMETRY));
    rules.put("picocliStaysInTheCommandLine", confined("picocli.", COMMAND_LINE));
    rules.put("natsStaysInThePackagesNamedForIt", confined("io.nats.", NATS));
    rules.put("packagesFormNoCycle", noCycles());
    rules.put(
        "packagesAreCutByFeature",
        each("be in a package named for what it is about", this::packageSaysSomething));
    rules.put(
        "classesAreNamedForWhatTheyAre",
        each("be named for what sets it apart", ArchitectureRules::nameSaysSomething));
    rules.put(
        "everyPackageIsNullMarked",
        each("be in a @NullMarked package", ArchitectureRules::isNullMarked));
    return rules;
  }

  /** The rule of that name. */
  ArchRule named(String name) {
    return requireNonNull(byName().get(name), name);
  }

  private boolean respectsTheRoutersDoor(JavaClass from, JavaClass to) {
    return !table.packageOf(from).matches("frontend(\\..+)?")
        || !table.packageOf(to).startsWith("router.");
  }

  private boolean doorStaysInFront(JavaClass from, JavaClass to) {
    return !table.packageOf(from).equals("router") || !table.packageOf(to).startsWith("router.");
  }

  private boolean reachesNativesByTransfer(JavaClass from, JavaClass to) {
    return !table.isRuntime(from)
        || !table.packageOf(to).matches("natives(\\..+)?")
        || table.packageOf(from).equals("transfer.jni");
  }

  private boolean packageSaysSomething(JavaClass type) {
    return !NAMES_THAT_SAY_NOTHING.matcher(table.packageOf(type)).matches();
  }

  private static boolean nameSaysSomething(JavaClass type) {
    return !SUFFIXES_THAT_SAY_NOTHING.matcher(type.getSimpleName()).matches();
  }

  private static boolean isNullMarked(JavaClass type) {
    return type.getPackage().isAnnotatedWith(NullMarked.class);
  }

  /** Requires of every import between classes of ours that {@code allowed} accepts it. */
  private ArchRule ours(BiPredicate<JavaClass, JavaClass> allowed) {
    return dependencies(
        dependency ->
            !table.holds(dependency.getTargetClass())
                || allowed.test(dependency.getOriginClass(), dependency.getTargetClass()));
  }

  /** Keeps a library to the packages that match one of {@code places}. */
  private ArchRule confined(String library, Pattern... places) {
    return dependencies(
        dependency -> {
          if (!dependency.getTargetClass().getName().startsWith(library)) {
            return true;
          }
          var here = table.packageOf(dependency.getOriginClass());
          for (var place : places) {
            if (place.matcher(here).matches()) {
              return true;
            }
          }
          return false;
        });
  }

  private ArchRule dependencies(Predicate<Dependency> allowed) {
    return classes()
        .that(areOurs())
        .should(
            new ArchCondition<>("import what is allowed") {
              @Override
              public void check(JavaClass type, ConditionEvents events) {
                for (var dependency : type.getDirectDependenciesFromSelf()) {
                  if (!allowed.test(dependency)) {
                    events.add(
                        SimpleConditionEvent.violated(dependency, dependency.getDescription()));
                  }
                }
              }
            });
  }

  private ArchRule each(String what, Predicate<JavaClass> holds) {
    return classes()
        .that(areOurs())
        .should(
            new ArchCondition<>(what) {
              @Override
              public void check(JavaClass type, ConditionEvents events) {
                if (!holds.test(type)) {
                  events.add(SimpleConditionEvent.violated(type, type.getName()));
                }
              }
            });
  }

  private ArchRule noCycles() {
    return slices().matching(root + ".(**)").should().beFreeOfCycles();
  }

  private DescribedPredicate<JavaClass> areOurs() {
    return DescribedPredicate.describe("are below " + root, table::holds);
  }
}

package io.dynamo.arch;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Every rule rejects the class that was planted against it, so that none holds by looking away. */
class PlantedViolationsTest {
  private static final String ROOT = "io.dynamo.arch.planted";
  private static final ArchitectureRules RULES = new ArchitectureRules(ROOT);
  private static final JavaClasses PLANTED = new ClassFileImporter().importPackages(ROOT);

  static Stream<Arguments> planted() {
    return Stream.of(
        Arguments.of("modulesImportAlongTheArrows", "natives.CallsTheRuntime"),
        Arguments.of("modulesImportAlongTheArrows", "worker.AsksTheFrontend"),
        Arguments.of("modulesImportAlongTheArrows", "router.CallsNatives"),
        Arguments.of("runtimePackagesImportTheirRowAndThoseBelow", "token.KnowsEvents"),
        Arguments.of("everyPackageOfTheRuntimeHasARow", "elsewhere.HasNoRow"),
        Arguments.of("theFrontendSeesOnlyTheDoorOfTheRouter", "frontend.dispatch.OpensTheRouter"),
        Arguments.of("theDoorOfTheRouterKnowsNothingBehindIt", "router.LooksBehindTheDoor"),
        Arguments.of("theRuntimeReachesNativesOnlyFromTransferJni", "block.CallsNatives"),
        Arguments.of("jakartaStaysInTheShell", "token.WantsToBeABean"),
        Arguments.of("microProfileStaysInTheShell", "token.ReadsConfig"),
        Arguments.of("nettyStaysInPipelineNetAndTcp", "kv.HoldsABuffer"),
        Arguments.of("jacksonStaysAtTheEdges", "kv.ParsesJson"),
        Arguments.of("yamlStaysBesideJson", "kv.ParsesYaml"),
        Arguments.of("hashesStayInToken", "kv.Hashes"),
        Arguments.of("tokenizersStayInPreprocess", "kv.Tokenizes"),
        Arguments.of("jdbcStaysBesideResponses", "kv.AsksDatabase"),
        Arguments.of("h2StaysBesideResponses", "kv.OpensH2"),
        Arguments.of("postgresqlStaysBesideResponses", "kv.OpensPostgresql"),
        Arguments.of("msgpackIsForTestsAlone", "kv.UnpacksMsgpack"),
        Arguments.of("zeroMqIsForTestsAlone", "kv.OpensASocket"),
        Arguments.of("etcdStaysInItsPackage", "kv.AsksEtcd"),
        Arguments.of("kubernetesStaysInItsPackage", "kv.AsksKubernetes"),
        Arguments.of("grpcStaysAtItsPortAndBesideEtcd", "kv.CallsOverGrpc"),
        Arguments.of("protobufStaysBesideKserve", "kv.ReadsProtobuf"),
        Arguments.of("openTelemetryStaysInItsPackage", "kv.MakesASpan"),
        Arguments.of("picocliStaysInTheCommandLine", "kv.ParsesArguments"),
        Arguments.of("natsStaysInThePackagesNamedForIt", "kv.PublishesToNats"),
        Arguments.of("packagesFormNoCycle", "event.AsksRequests"),
        Arguments.of("packagesAreCutByFeature", "util.Strings"),
        Arguments.of("classesAreNamedForWhatTheyAre", "error.ErrorHelper"),
        Arguments.of("everyPackageIsNullMarked", "elsewhere.HasNoRow"));
  }

  static Stream<String> rules() {
    return RULES.byName().keySet().stream();
  }

  @ParameterizedTest
  @MethodSource("planted")
  void ruleRejectsWhatIsPlantedAgainstIt(String rule, String planted) {
    var report = RULES.named(rule).evaluate(PLANTED).getFailureReport();

    assertThat(report.getDetails()).anyMatch(line -> line.contains(ROOT + "." + planted));
  }

  @ParameterizedTest
  @MethodSource("rules")
  void everyRuleHasAPlantedViolation(String rule) {
    assertThat(planted().map(arguments -> arguments.get()[0])).contains(rule);
  }
}

package io.dynamo.frontend.openai;

import io.dynamo.concurrent.Execution;
import io.dynamo.config.frontend.FrontendSettings;

/** The parts that all requests of a {@link TextService} share. Each is safe for concurrent use. */
record ServingParts(
    FrontendSettings settings,
    EdgeRules rules,
    Intake intake,
    TextService.Models models,
    TextPipe.Factory pipes,
    Execution execution,
    ActiveAnswers active,
    Windows windows) {}

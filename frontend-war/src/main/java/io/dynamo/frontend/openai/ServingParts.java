package io.dynamo.frontend.openai;

import io.dynamo.config.frontend.FrontendSettings;
import io.dynamo.frontend.catalog.WorkerGauges;
import io.dynamo.frontend.dispatch.Dispatcher;
import io.dynamo.frontend.dispatch.Embedder;

/** The parts that all requests of a {@link TextService} share. Each is safe for concurrent use. */
record ServingParts(
    FrontendSettings settings,
    EdgeRules rules,
    Intake intake,
    Dispatcher dispatcher,
    Embedder embedder,
    TextPipe.Factory pipes,
    WorkerGauges workers,
    TextService.Execution execution,
    ActiveChoices active,
    Windows windows) {}

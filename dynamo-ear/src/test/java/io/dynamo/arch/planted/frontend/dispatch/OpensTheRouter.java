package io.dynamo.arch.planted.frontend.dispatch;

import io.dynamo.arch.planted.router.select.Chooser;

/** Looks behind the router's door. */
public record OpensTheRouter(Chooser behind) {}

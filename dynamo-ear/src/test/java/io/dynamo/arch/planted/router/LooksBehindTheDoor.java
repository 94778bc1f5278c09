package io.dynamo.arch.planted.router;

import io.dynamo.arch.planted.router.select.Chooser;

/** Belongs to the door of the router and uses what is behind it. */
public record LooksBehindTheDoor(Chooser behind) {}

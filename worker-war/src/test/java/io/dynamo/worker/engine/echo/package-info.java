@NullMarked
package io.dynamo.worker.engine.echo;

import org.jspecify.annotations.NullMarked;

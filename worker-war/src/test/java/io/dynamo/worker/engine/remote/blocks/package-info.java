@NullMarked
package io.dynamo.worker.engine.remote.blocks;

import org.jspecify.annotations.NullMarked;

@NullMarked
package io.dynamo.cli.cluster;

import org.jspecify.annotations.NullMarked;

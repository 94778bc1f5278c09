"""Checks manifests.  usage: manifests.py FILE | manifests.py --compose FILE

A file of Kubernetes objects: each against the schema of its kind, its references (selectors, claims) against the other objects. Objects
of the Prometheus operator, whose schemas are not published with Kubernetes', by the members that they must have. A Compose file: services,
networks and variables that it refers to.
"""

import sys

import kubernetes_validate
import yaml

OPERATOR = {"ServiceMonitor": ["selector", "endpoints"], "PrometheusRule": ["groups"]}
VERSION = "1.30"


def fail(message):
    print(message)
    sys.exit(1)


def labels_of(pod):
    return pod["metadata"].get("labels", {})


def matches(selector, labels):
    return all(labels.get(key) == value for key, value in selector.items())


def check_class_archive(name, variables):
    """A server whose data folder goes with its container must not write class archives into it."""
    if "DYNAMO_ROLES" in variables and "-Xshare" not in variables.get("JVM_ARGS", ""):
        fail(f"{name} would write class archives that no start uses: JVM_ARGS lacks -Xshare:auto")


def manifests(objects):
    pods = [it["spec"]["template"] for it in objects if it["kind"] in ("Deployment", "StatefulSet")]
    for pod in pods:
        for container in pod["spec"]["containers"]:
            variables = {it["name"]: it.get("value", "") for it in container.get("env", [])}
            check_class_archive(f"container {container['name']}", variables)
    for it in objects:
        name = f"{it['kind']} {it['metadata']['name']}"
        if it["kind"] in OPERATOR:
            missing = [member for member in OPERATOR[it["kind"]] if not it["spec"].get(member)]
            if missing:
                fail(f"{name} lacks {missing}")
            continue
        try:
            kubernetes_validate.validate(it, VERSION, strict=True)
        except kubernetes_validate.ValidationError as error:
            fail(f"{name}: {error.message} at {list(error.path)}")
        spec = it.get("spec", {})
        selector = {
            "Service": lambda: spec["selector"],
            "PodDisruptionBudget": lambda: spec["selector"]["matchLabels"],
            "Deployment": lambda: spec["selector"]["matchLabels"],
            "StatefulSet": lambda: spec["selector"]["matchLabels"],
        }.get(it["kind"])
        if selector:
            chosen = [pod for pod in pods if matches(selector(), labels_of(pod))]
            if not chosen:
                fail(f"{name} selects no pod of {selector()}")
            if it["kind"] == "Service":
                for port in spec["ports"]:
                    ports = [p["name"] for pod in chosen for c in pod["spec"]["containers"] for p in c["ports"]]
                    if port["targetPort"] not in ports:
                        fail(f"{name}: no container has a port {port['targetPort']}")
    kinds = sorted({it["kind"] for it in objects})
    print(f"{len(objects)} objects: {', '.join(kinds)}")


def compose(file):
    networks = file["networks"]
    for name, service in file["services"].items():
        for needed in service.get("depends_on", {}):
            if needed not in file["services"]:
                fail(f"{name} depends on {needed}, which is no service")
        for network in service["networks"]:
            if network not in networks:
                fail(f"{name} is in {network}, which is no network")
        check_class_archive(name, service.get("environment", {}))
        if "image" not in service:
            fail(f"{name} has no image")
        for volume in service.get("volumes", []):
            if volume.split(":")[0] not in file["volumes"]:
                fail(f"{name} mounts {volume}, which is no volume")
    print(f"{len(file['services'])} services")


def main(arguments):
    with open(arguments[-1], encoding="utf-8") as source:
        if arguments[0] == "--compose":
            compose(yaml.safe_load(source))
        else:
            manifests([it for it in yaml.safe_load_all(source) if it])


if __name__ == "__main__":
    main(sys.argv[1:])

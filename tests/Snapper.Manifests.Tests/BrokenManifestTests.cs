using System.Text.Json.Nodes;
using Snapper.Manifests.Tests.Kustomize;
using Xunit;

namespace Snapper.Manifests.Tests;

/// <summary>The checker is checked: each rule finds what it is there for in manifests that are good but for one change.</summary>
public sealed class BrokenManifestTests
{
    private const string Worker = "StatefulSet/snapper-worker";
    private const string Redis = "StatefulSet/snapper-redis";
    private const string Map = "ConfigMap/snapper-redis";
    private const string Dashboard = "Deployment/snapper-dashboard";
    private const string Pod = "/spec/template/spec";
    private const string Container = "/spec/template/spec/containers/0";
    private const string Annotations = "/spec/template/metadata/annotations/dapr.io~1";

    [Theory]
    // Fields.
    [InlineData(Worker, "add", Container + "/livenesProbe", "{}", "there is no field livenesProbe")]
    [InlineData(Worker, "add", Pod + "/containers/0/env/0/valuefrom", "{}", "env[0]: there is no field valuefrom")]
    [InlineData(Worker, "remove", Container + "/image", null, "the field image is missing")]
    [InlineData(Worker, "replace", "/spec/replicas", "\"3\"", "replicas must be count")]
    [InlineData(Worker, "replace", Container + "/ports/0/containerPort", "70000", "containerPort must be port")]
    [InlineData(Worker, "replace", "/spec/podManagementPolicy", "\"parallel\"", "podManagementPolicy must be Parallel|OrderedReady")]
    [InlineData(Worker, "replace", Container + "/resources/limits/memory", "\"1GB\"", "memory must be quantity")]
    [InlineData(Worker, "replace", Annotations + "app-port", "5101", "must be text")]
    [InlineData(Worker, "replace", Container + "/env", "{}", "env must be a list")]
    [InlineData(Worker, "replace", "/metadata/name", "\"Snapper_Worker\"", "name must be name")]
    [InlineData(Worker, "replace", "/apiVersion", "\"apps/v1beta1\"", "no kind that is known here")]
    [InlineData("Resiliency/snapper", "replace", "/spec/policies/retries/never/maxRetries", "\"none\"", "maxRetries must be whole")]
    // References.
    [InlineData(Worker, "replace", Pod + "/serviceAccountName", "\"nobody\"", "there is no service account nobody")]
    [InlineData(Worker, "replace", "/spec/serviceName", "\"others\"", "there is no service others")]
    [InlineData(Worker, "replace", Annotations + "config", "\"other\"", "there is no Dapr configuration other")]
    [InlineData(Worker, "replace", Annotations + "app-token-secret", "\"snapper-redis\"", "no secret with a key token")]
    [InlineData(Worker, "replace", Pod + "/volumes/0/secret/secretName", "\"gone\"", "there is no secret gone")]
    [InlineData(Worker, "replace", Pod + "/volumes/0/secret/items/0/key", "\"pass\"", "has no key pass")]
    [InlineData(Redis, "replace", Pod + "/volumes/0/configMap/name", "\"gone\"", "there is no configuration map gone")]
    [InlineData(Redis, "replace", Pod + "/volumes/0/configMap/items/0/key", "\"r.conf\"", "has no key r.conf")]
    [InlineData(Worker, "replace", Container + "/env/13/valueFrom/secretKeyRef/key", "\"pass\"", "key pass of secret ")]
    [InlineData(Worker, "replace", Container + "/volumeMounts/0/name", "\"dat\"", "there is no volume dat to be mounted")]
    [InlineData(Worker, "add", Pod + "/volumes/-", """{"name":"x","emptyDir":{}}""", "the volume x is mounted nowhere")]
    [InlineData(Worker, "add", Pod + "/volumes/1/configMap", """{"name":"snapper-redis"}""", "must be of one kind")]
    [InlineData(Dashboard, "add", Pod + "/volumes/-", """{"name":"x","persistentVolumeClaim":{"claimName":"c"}}""", "there is no claim c")]
    [InlineData("Component/actorstate", "replace", "/scopes/0", "\"snaper\"", "there is no app snaper")]
    [InlineData("Resiliency/snapper", "replace", "/spec/targets/actors/Account/retry", "\"ever\"", "names the policy ever")]
    [InlineData("Service/snapper-redis", "replace", "/metadata/namespace", "\"other\"", "is in no namespace that is made here")]
    // Selectors.
    [InlineData(Worker, "replace", "/spec/selector/matchLabels/app.kubernetes.io~1name", "\"other\"", "its selector does not take its own pods")]
    [InlineData(Worker, "replace", Pod + "/topologySpreadConstraints/0/labelSelector/matchLabels/app.kubernetes.io~1name", "\"other\"", "a spread constraint does not take")]
    [InlineData("Service/snapper-redis", "replace", "/spec/selector/app.kubernetes.io~1name", "\"redis\"", "selects no pods")]
    [InlineData(Worker, "replace", "/spec/serviceName", "\"snapper-redis\"", "its service snapper-redis does not select its pods")]
    [InlineData("PodDisruptionBudget/snapper-worker", "replace", "/spec/selector/matchLabels/app.kubernetes.io~1name", "\"w\"", "PodDisruptionBudget/snapper-worker selects no pods")]
    [InlineData("PodDisruptionBudget/snapper-worker", "add", "/spec/minAvailable", "2", "either maxUnavailable or minAvailable")]
    [InlineData("PodDisruptionBudget/snapper-worker", "replace", "/spec/maxUnavailable", "2", "no PodDisruptionBudget keeps all but one")]
    [InlineData("ServiceMonitor/snapper-worker", "replace", "/spec/selector/matchLabels/app.kubernetes.io~1name", "\"w\"", "selects no service")]
    [InlineData("NetworkPolicy/snapper-redis", "replace", "/spec/podSelector/matchLabels/app.kubernetes.io~1name", "\"w\"", "NetworkPolicy/snapper-redis selects no pods")]
    [InlineData("NetworkPolicy/snapper-redis", "replace", "/spec/ingress/0/from/0/podSelector/matchLabels/app.kubernetes.io~1name", "\"w\"", "which takes no pods")]
    [InlineData("NetworkPolicy/snapper-monitoring", "replace", "/spec/ingress/0/from/0/namespaceSelector/matchLabels/kubernetes.io~1metadata.name", "\"w\"", "the namespace w, which is not known")]
    // Ports.
    [InlineData("Service/snapper-workers", "replace", "/spec/ports/0/targetPort", "\"http\"", "StatefulSet/snapper-worker has no port http")]
    [InlineData("Service/snapper-workers", "replace", "/spec/ports/0/port", "80", "is headless: its port 80 must be that of the pods, 5101")]
    [InlineData("ServiceMonitor/snapper-worker", "replace", "/spec/endpoints/0/port", "\"http\"", "has no port http")]
    [InlineData(Worker, "replace", Container + "/readinessProbe/httpGet/port", "5104",
        "readinessProbe asks at port 5104, which is not there")]
    [InlineData(Worker, "add", Container + "/livenessProbe/exec", """{"command":["true"]}""", "livenessProbe must have one way to ask")]
    [InlineData(Worker, "add", Container + "/ports/-", """{"name":"api","containerPort":9}""", "a port name is there twice")]
    [InlineData(Worker, "replace", Annotations + "app-port", "\"5100\"", "dapr.io/app-port 5100 is no port of its containers")]
    [InlineData(Worker, "replace", Container + "/env/7/value", "\"snapper-reddis:6379\"", "names the service snapper-reddis, which is not there")]
    [InlineData(Worker, "replace", Container + "/env/7/value", "\"snapper-redis:6380\"", "Service/snapper-redis has no such port")]
    [InlineData(Dashboard, "replace", Container + "/env/1/value", "\"http://snapper-worker-9.snapper-workers:5101\"", "there is no pod snapper-worker-9")]
    // Network.
    [InlineData("NetworkPolicy/snapper-redis", "replace", "/spec/ingress/0/ports/0/port", "6380", "StatefulSet/snapper-redis has no port 6380")]
    [InlineData("NetworkPolicy/snapper-dashboard", "replace", "/spec/egress/0/ports/0/port", "5100", "StatefulSet/snapper-worker has no port 5100")]
    [InlineData("NetworkPolicy/snapper-worker", "replace", "/spec/egress/1/ports/1/port", "6501", "nothing listens in dapr-system at port 6501")]
    [InlineData("NetworkPolicy/snapper-worker", "remove", "/spec/egress/1/ports/1", null, "its sidecar may not connect to dapr-system at 6500")]
    [InlineData("NetworkPolicy/snapper-worker-redis", "delete", "", null, "may not connect to StatefulSet/snapper-redis at 6379: no policy lets it out")]
    [InlineData("NetworkPolicy/snapper-worker", "remove", "/spec/ingress/0", null, "may not connect to StatefulSet/snapper-worker at 5101: no policy lets it in")]
    [InlineData("NetworkPolicy/snapper-worker", "remove", "/spec/ingress/1/from/0", null, "StatefulSet/snapper-worker may not connect to StatefulSet/snapper-worker at 50002: no policy lets it in")]
    [InlineData("NetworkPolicy/snapper-names", "delete", "", null, "may not ask for names")]
    [InlineData("NetworkPolicy/snapper-nobody", "delete", "", null, "Deployment/snapper-dashboard: no network policy restricts its Ingress")]
    [InlineData("NetworkPolicy/snapper-redis", "remove", "/spec/ingress/0/ports", null, "a rule names no ports, which opens all")]
    [InlineData("NetworkPolicy/snapper-redis", "remove", "/spec/ingress/0/from", null, "a rule names nobody, which lets everybody")]
    [InlineData("NetworkPolicy/snapper-redis", "replace", "/spec/policyTypes/0", "\"Egress\"", "has ingress rules and is no policy of Ingress")]
    // Environment.
    [InlineData(Worker, "replace", Container + "/env/9/name", "\"SNAPPER_DATAS\"", "worker does not read the variable SNAPPER_DATAS")]
    [InlineData(Worker, "replace", Container + "/env/14/name", "\"Snapper__Http__Hosts\"", "does not read the variable Snapper__Http__Hosts")]
    [InlineData(Worker, "replace", Container + "/env/14/name", "\"Snapper__Htp__AllowedHosts\"", "does not read the variable Snapper__Htp__AllowedHosts")]
    [InlineData(Redis, "replace", Container + "/env/0/name", "\"REDIS_PASSWORD\"", "redis does not read the variable REDIS_PASSWORD")]
    [InlineData(Dashboard, "replace", Container + "/env/0/name", "\"SNAPPER_WORKERS\"", "dashboard does not read the variable SNAPPER_WORKERS")]
    [InlineData(Worker, "replace", Container + "/env/1/value", "\"http://$(POD).snapper-workers:5101\"", "uses $(POD), which is not set before it")]
    [InlineData(Worker, "add", Container + "/env/-", """{"name":"SNAPPER_LOG","value":"redis"}""", "the variable SNAPPER_LOG is there twice")]
    [InlineData(Worker, "add", Container + "/env/-", """{"name":"SNAPPER_FSYNC"}""", "SNAPPER_FSYNC must have either value or valueFrom")]
    [InlineData(Worker, "replace", Container + "/env/6/value", "\"tape\"", "refuses its environment: --log must be redis or file")]
    [InlineData(Worker, "remove", Container + "/env/13", null, "refuses its environment: --listen-address 0.0.0.0 is reached from other machines")]
    [InlineData(Worker, "add", Container + "/env/-", """{"name":"Snapper__Worker__Executors","value":"0"}""", "refuses its environment: ")]
    [InlineData(Worker, "replace", "/spec/ordinals/start", "0", "refuses its environment: --pod-name must be counted from 1")]
    // Security.
    [InlineData(Worker, "replace", Pod + "/securityContext/runAsUser", "0", "must run as a user that is named by number and is not root")]
    [InlineData(Worker, "replace", Pod + "/securityContext/runAsUser", "1000", "the images are made for user and group")]
    [InlineData(Worker, "replace", Pod + "/securityContext/seccompProfile/type", "\"Unconfined\"", "seccompProfile must be RuntimeDefault")]
    [InlineData(Redis, "remove", Pod + "/automountServiceAccountToken", null, "mounts a token of the cluster's API")]
    [InlineData(Redis, "add", Pod + "/hostNetwork", "true", "hostNetwork is not for us")]
    [InlineData(Worker, "replace", Container + "/image", "\"snapper-worker\"", "needs a tag or a digest")]
    [InlineData(Worker, "replace", Container + "/image", "\"snapper-worker:latest\"", "needs a tag or a digest")]
    [InlineData(Worker, "remove", Container + "/securityContext/allowPrivilegeEscalation", null, "may gain privileges")]
    [InlineData(Dashboard, "replace", Container + "/securityContext/readOnlyRootFilesystem", "false", "may write to its own file system")]
    [InlineData(Dashboard, "add", Container + "/securityContext/capabilities/add", "[\"NET_ADMIN\"]", "must drop all capabilities")]
    [InlineData(Dashboard, "add", Container + "/securityContext/privileged", "true", "must not be privileged")]
    [InlineData(Dashboard, "remove", Container + "/resources/limits", null, "must request cpu and memory, and limit memory")]
    [InlineData(Dashboard, "replace", Container + "/resources/requests/memory", "\"1Gi\"", "requests more memory than its limit")]
    [InlineData(Dashboard, "remove", Container + "/livenessProbe", null, "has no livenessProbe")]
    [InlineData(Worker, "replace", Annotations + "app-port", "\"5101\"",
        "dapr.io/app-port is 5101, and the worker listens at 5103")]
    [InlineData(Worker, "replace", Annotations + "app-protocol", "\"http\"", "is http, and the worker speaks h2c")]
    [InlineData(Worker, "add", Annotations + "app-porte", "\"1\"", "Dapr knows no annotation dapr.io/app-porte")]
    [InlineData(Worker, "replace", Annotations + "enable-app-health-check", "\"true\"", "app health checks take actor types out of placement")]
    [InlineData(Worker, "remove", Annotations + "sidecar-seccomp-profile-type", null, "the sidecar's seccomp profile must be RuntimeDefault")]
    [InlineData(Worker, "remove", Annotations + "app-token-secret", null, "whoever reaches the port could run every method")]
    [InlineData(Worker, "remove", Annotations + "sidecar-memory-limit", null, "the sidecar must say what it needs")]
    // Workers.
    [InlineData(Worker, "replace", "/spec/replicas", "4", "SNAPPER_WORKERS is 3, and there are 4 replicas")]
    [InlineData(Worker, "replace", "/spec/replicas", "17", "Mailbox@w17 would be repeated by the sidecar")]
    [InlineData(Worker, "replace", "/spec/replicas", "4", "AllowedHosts lacks snapper-worker-4.snapper-workers")]
    [InlineData(Worker, "replace", "/spec/replicas", "2", "the dashboard looks at")]
    [InlineData(Worker, "replace", "/spec/ordinals/start", "2", "its pods are w2, w3, w4, not w1 to w3")]
    [InlineData(Worker, "replace", Container + "/env/4/value", "\"5104\"", "listens at 5104, not at the port api")]
    [InlineData(Worker, "replace", Container + "/env/5/value", "\"3501\"", "injected sidecars listen at 3500, not at 3501")]
    [InlineData(Worker, "replace", Annotations + "app-id", "\"snapper2\"", "calls of the app snapper2 would be repeated by the sidecar")]
    [InlineData(Worker, "replace", Container + "/env/19", """{"name":"SNAPPER_APP_ID","value":"shop"}""", "and the worker takes it for shop")]
    [InlineData(Worker, "replace", "/spec/podManagementPolicy", "\"OrderedReady\"", "podManagementPolicy must be Parallel")]
    [InlineData("Service/snapper-workers", "remove", "/spec/publishNotReadyAddresses", null, "must publish workers that are not ready")]
    [InlineData(Worker, "remove", Container + "/env/1", null, "SNAPPER_URL must say where a worker is reached")]
    [InlineData("Resiliency/snapper", "remove", "/spec/targets/actors/ListAppend@w2", null, "ListAppend@w2 would be repeated by the sidecar")]
    [InlineData(Worker, "replace", Container + "/volumeMounts/0/mountPath", "\"/var\"", "/data must be on a volume that lasts")]
    [InlineData(Worker, "replace", Pod + "/volumes/0/secret/items/0/path", "\"pass\"", "which no secret brings there")]
    [InlineData(Worker, "replace", Container + "/env/16/value", "\"/other\"", "nothing can be written in TMPDIR, /other")]
    [InlineData("ConfigMap/snapper-redis", "replace", "/data/redis.conf", "\"appendonly no\"", "its redis.conf must say 'appendonly yes'")]
    [InlineData(Redis, "replace", Container + "/volumeMounts/0/mountPath", "\"/redis\"", "StatefulSet/snapper-redis: /data must be on a volume that lasts")]
    [InlineData("NetworkPolicy/snapper-monitoring", "replace", "/spec/ingress/0/ports/0/port", "5101", "reaches 5101")]
    [InlineData(Worker, "replace", Container + "/env/21/value", "\"5104\"", "serves metrics at 5104")]
    [InlineData(Worker, "remove", Container + "/env/21", null, "ServiceMonitor/snapper-worker asks at 5102, where")]
    // Times.
    [InlineData(Worker, "replace", Container + "/env/10/value", "\"25\"", "the worker needs it for 25 s to leave and 10 s to drain")]
    [InlineData(Worker, "replace", Pod + "/terminationGracePeriodSeconds", "40", "the worker may need 60 s to stop, and is killed after 40 s")]
    [InlineData(Worker, "replace", Annotations + "block-shutdown-duration", "\"70s\"", "the sidecar may need 75 s to stop, and is killed after 70 s")]
    [InlineData(Worker, "remove", Container + "/env/10", null, "without SNAPPER_LEAVE_ON_STOP")]
    [MemberData(nameof(OfRedis))]
    [MemberData(nameof(OfAccessLists))]
    public void A_broken_manifest_is_found(string where, string op, string path, string? value, string problem)
    {
        var good = Rendered.Of("production", "redis", "../../components/service-monitor");
        Assert.Empty(good.Problems());
        var one = good.Objects.Single(one => Rules.Manifests.Where(one) == where);
        if (op != "delete") JsonPatch.Apply(one, [new JsonObject { ["op"] = op, ["path"] = path, ["value"] = value is null ? null : JsonNode.Parse(value) }]);
        var broken = new Rules.Manifests([.. good.Objects.Where(other => op != "delete" || other != one)], good.Outside);
        Assert.Contains(broken.Problems(), found => found.Contains(problem, StringComparison.Ordinal));
    }

    /// <summary>Direct links, which a component brings.</summary>
    [Theory]
    [InlineData("LinkPort", "5105", "direct links are taken at 5105, not at the port links")]
    [InlineData("LinkAddress", "127.0.0.1", "direct links of other pods do not reach 127.0.0.1")]
    [InlineData("LinkHost", "snapper-worker-1.snapper-workers", "worker-2 is not reached under snapper-worker-1")]
    [InlineData("LinkHost", "", "refuses its environment: Snapper:Cluster:LinkAddress is 0.0.0.0, which is no address")]
    [InlineData("LinkKey", "/run/secrets/snapper-links/key", "/snapper-links/key, which no secret brings there")]
    [InlineData("Links", "sidecar", "the port links, 5104, is there, and nothing listens at it")]
    [InlineData("Links", "both", "refuses its environment: Snapper:Cluster:Links is 'both'")]
    public void A_broken_setting_of_direct_links_is_found(string setting, string value, string problem)
    {
        var variable = $"Snapper__Cluster__{setting}";
        var good = Rendered.Of("production", "redis", "../../components/direct-links");
        Assert.Empty(good.Problems());
        Variables(good).Single(one => (string?)one!["name"] == variable)!["value"] = value;
        Assert.Contains(
            new Rules.Manifests(good.Objects, good.Outside).Problems(),
            found => found.Contains(problem, StringComparison.Ordinal));
    }

    [Theory]
    [InlineData("ingress", "from", "snapper-dashboard", "others than workers reach the port links")]
    [InlineData("ingress", "from", "snapper-dashboard", "no policy lets it in")]
    [InlineData("egress", "to", "snapper-redis", "no policy lets it out")]
    public void A_policy_that_lets_others_to_direct_links_or_workers_not_is_found(
        string direction, string peers, string value, string problem)
    {
        const string label = "app.kubernetes.io/name";
        var good = Rendered.Of("production", "redis", "../../components/direct-links");
        var policy = good.Find("NetworkPolicy", "snapper-links")!;
        policy["spec"]![direction]![0]![peers]![0]!["podSelector"]!["matchLabels"]![label] = value;
        Assert.Contains(good.Problems(), found => found.Contains(problem, StringComparison.Ordinal));
    }

    [Fact]
    public void Workers_must_say_whether_there_are_direct_links()
    {
        var good = Rendered.Of("production");
        var variables = Variables(good);
        variables.Remove(variables.Single(static one => (string?)one!["name"] == "Snapper__Cluster__Links"));
        Assert.Contains(
            good.Problems(),
            static found => found.Contains("Snapper__Cluster__Links must say", StringComparison.Ordinal));
    }

    private static JsonArray Variables(Rules.Manifests all) =>
        all.Pods.Single(static pods => pods.Where == Worker).Containers[0]["env"]!.AsArray();

    /// <summary>Its access control list, and its room.</summary>
    public static TheoryData<string, string, string, string?, string> OfRedis()
    {
        const string Off = "user default reset\\n";
        const string List = "/data/users.acl";
        const string User = Container + "/env/22/value";
        const string Secret = """{"name":"A","valueFrom":{"secretKeyRef":{"name":"snapper-redis","key":"password"}}}""";
        return new TheoryData<string, string, string, string?, string>
        {
            { Map, "replace", "/data/redis.conf", "\"dir /data\"", "must say 'aclfile /run/snapper-redis/users.acl'" },
            { Map, "replace", List, "\"user snapper on PASSWORD ~snapper:* +ping\"", "the default user must be reset" },
            { Map, "replace", List, Text("nopass ~snapper:* +ping"), "snapper must sign in by the password" },
            { Map, "replace", List, Text("PASSWORD >a ~snapper:* +ping"), "snapper must sign in by the password" },
            { Map, "replace", List, Text("PASSWORD ~* +ping"), "snapper may reach other keys than snapper:*" },
            { Map, "replace", List, Text("PASSWORD ~snapper:* &* +ping"), "snapper may reach other keys than" },
            { Map, "replace", List, Text("PASSWORD ~snapper:* +@all"), "snapper may run whole categories: +@all" },
            { Map, "replace", List, Text("PASSWORD +info"), "snapper may do more than ask whether it answers" },
            { Worker, "replace", User, "\"other\"", "users.acl has no user other that is on" },
            { Worker, "replace", User, "\"default\"", "users.acl has no user default that is on" },
            { Redis, "replace", Container + "/env/0", Secret, "redis takes a secret into its environment" },
            { Redis, "replace", Container + "/command/3", "\"7gb\"", "maxmemory 7gb is more than half of the memory" },
            { Redis, "remove", Container + "/command/2", null, "its command has no --maxmemory" },
        };

        static string Text(string rights) => $"\"{Off}user snapper on {rights}\"";
    }

    /// <summary>What other apps may invoke.</summary>
    public static TheoryData<string, string, string, string?, string> OfAccessLists()
    {
        const string Where = "Configuration/snapper";
        const string Lists = "/spec/accessControl";
        const string Shop = Lists + "/policies/0";
        return new TheoryData<string, string, string, string?, string>
        {
            { Where, "remove", Lists, null, "without accessControl that denies all apps may invoke" },
            { Where, "replace", Lists + "/defaultAction", "\"allow\"", "without accessControl that denies all" },
            { Where, "replace", Shop + "/defaultAction", "\"allow\"", "shop may invoke all that is not named" },
            { Where, "replace", Shop + "/namespace", "\"other\"", "shop is looked for in the namespace other" },
            { Where, "replace", Shop + "/operations/0/name", "\"/v1\"", "shop may POST /v1, which" },
            { Where, "replace", Shop + "/operations/0/name", "\"/v1/migrations\"", "shop may POST /v1/migrations" },
            { Where, "replace", Shop + "/operations/1/httpVerb/0", "\"DELETE\"", "shop may DELETE /v1/actor-types" },
            { Where, "remove", Shop + "/operations/0/httpVerb/0", null, "shop may not GET /v1/transactions/" },
            { Where, "remove", Shop + "/operations/1", null, "shop may not GET /v1/actor-types" },
        };
    }

    [Fact]
    public void Something_that_is_there_twice_is_found()
    {
        var good = Rendered.Of("dev");
        var twice = new Rules.Manifests([.. good.Objects, (JsonObject)good.Objects[0].DeepClone()], good.Outside);
        Assert.Contains(twice.Problems(), found => found.EndsWith(" is there twice", StringComparison.Ordinal));
    }

    [Fact]
    public void Secrets_that_are_made_nowhere_are_found()
    {
        var without = new Rules.Manifests(Rendered.Of("production").Objects, new Dictionary<string, string[]>());
        Assert.Contains("StatefulSet/snapper-worker: there is no secret snapper-redis", without.Problems());
    }
}

using System.Diagnostics;
using System.Globalization;
using System.Text.RegularExpressions;
using Microsoft.AspNetCore.Server.Kestrel.Core;
using Snapper.AspNetCore.Hosting;
using Snapper.AspNetCore.Processes;
using Snapper.Cli.Commands;
using Snapper.Cli.Supervision;
using Snapper.Server.Commands;
using Snapper.Server.Hosting;
using Xunit;
using YamlDotNet.RepresentationModel;

namespace Snapper.Manifests.Tests;

/// <summary>dapr.yaml, the file of <c>dapr run -f</c>: fields as Dapr's multi-app run has them, and ports, paths and options that fit the rest.</summary>
public sealed partial class DaprRunTests
{
    /// <summary>Field of an app in the template: its kind, and the option of daprd that the CLI makes of it (null: it keeps it to itself).</summary>
    private static readonly Dictionary<string, (string Kind, string? Option)> s_fields = new(StringComparer.Ordinal)
    {
        ["appID"] = ("text", "app-id"), ["appDirPath"] = ("path", null), ["appPort"] = ("port", "app-port"), ["appProtocol"] = ("text", "app-protocol"),
        ["appChannelAddress"] = ("text", "app-channel-address"), ["daprHTTPPort"] = ("port", "dapr-http-port"), ["daprGRPCPort"] = ("port", "dapr-grpc-port"),
        ["daprInternalGRPCPort"] = ("port", "dapr-internal-grpc-port"), ["metricsPort"] = ("port", "metrics-port"), ["profilePort"] = ("port", "profile-port"),
        ["command"] = ("texts", null), ["configFilePath"] = ("path", "config"), ["apiListenAddresses"] = ("text", "dapr-listen-addresses"),
        ["logLevel"] = ("text", "log-level"), ["appMaxConcurrency"] = ("number", "app-max-concurrency"), ["placementHostAddress"] = ("text", "placement-host-address"),
        ["schedulerHostAddress"] = ("text", "scheduler-host-address"), ["resourcesPaths"] = ("paths", "resources-path"), ["maxBodySize"] = ("size", "max-body-size"),
        ["readBufferSize"] = ("size", "read-buffer-size"), ["enableAppHealthCheck"] = ("bool", "enable-app-health-check"), ["enableApiLogging"] = ("bool", "enable-api-logging"),
        ["appLogDestination"] = ("log", null), ["daprdLogDestination"] = ("log", null), ["env"] = ("map", null), ["runtimePath"] = ("path", null),
    };

    private static readonly YamlMappingNode s_file = Load();

    private static YamlMappingNode App => (YamlMappingNode)Assert.Single((YamlSequenceNode)s_file.Children["apps"]);

    [Fact]
    public void Its_fields_are_those_of_the_multi_app_run_template()
    {
        Assert.Equal(["apps", "version"], s_file.Children.Keys.Select(k => k.ToString()).Order());
        Assert.Equal("1", Text(s_file, "version"));
        foreach (var (key, value) in App.Children)
        {
            Assert.True(s_fields.TryGetValue(key.ToString(), out var field), $"dapr.yaml has the field '{key}', which the multi-app run template does not have");
            Assert.True(Fits(field.Kind, value), $"dapr.yaml: {key} must be a {field.Kind}, not '{value}'");
        }
    }

    /// <summary>samples/Orders has one, too, and the port there is that of its own settings.</summary>
    [Fact]
    public void That_of_the_sample_has_fields_paths_and_a_port_that_fit()
    {
        var app = (YamlMappingNode)Assert.Single((YamlSequenceNode)Load("samples/Orders/dapr.yaml").Children["apps"]);
        Assert.All(app.Children, static field => Assert.True(
            s_fields.TryGetValue(field.Key.ToString(), out var known) && Fits(known.Kind, field.Value), $"{field}"));
        var folder = Path.Combine(Tree.Path("samples/Orders"), Text(app, "appDirPath"));
        Assert.All(Texts(app, "resourcesPaths"), path => Assert.True(Path.Exists(Path.Combine(folder, path)), path));
        Assert.True(Directory.Exists(Path.Combine(folder, Texts(app, "command").Last())));
        var settings = Tree.Read("samples", "Orders", "Shop", "appsettings.json");
        Assert.Contains($"http://127.0.0.1:{Text(app, "appPort")}\"", settings, StringComparison.Ordinal);
        Assert.Contains($"\"AppId\": \"{Text(app, "appID")}\"", settings, StringComparison.Ordinal);
    }

    [Fact]
    public void Its_paths_are_there_and_its_command_can_be_run()
    {
        var folder = Tree.Path(Text(App, "appDirPath"));
        foreach (var path in Texts(App, "resourcesPaths").Append(Text(App, "configFilePath"))) Assert.True(Path.Exists(Path.Combine(folder, path)), $"{path} is not there");
        if (!OperatingSystem.IsWindows()) Assert.True((File.GetUnixFileMode(Path.Combine(folder, Texts(App, "command")[0])) & UnixFileMode.UserExecute) != 0);
    }

    [Fact]
    public void Its_worker_and_its_sidecar_know_each_other_and_are_where_up_has_them()
    {
        var command = Texts(App, "command");
        Assert.Equal(["./snapper", "worker"], command.Take(2));
        var settings = WorkerCommand.Settings([.. command.Skip(2)], _ => null);
        var up = UpCommand.Parse();
        Assert.Equal((up.WorkerPort(1), up.SidecarPortOf(1)), (settings.ListenPort, settings.SidecarPort));
        Assert.Equal((settings.AppPort, settings.SidecarPort), (Number("appPort"), Number("daprHTTPPort")));
        Assert.Equal(settings.AppProtocol == HttpProtocols.Http2 ? "h2c" : "http", Text(App, "appProtocol"));
        Assert.Equal((WorkerSettings.DefaultAppId, "127.0.0.1"), (Text(App, "appID"), Text(App, "apiListenAddresses")));
        Assert.False(App.Children.ContainsKey("enableAppHealthCheck"), "app health checks take actor types out of placement; see ChildCommands");
    }

    [Fact]
    public void The_command_with_Redis_in_its_comment_is_right_too()
    {
        var comment = CommandInComment().Match(Tree.Read("dapr.yaml"));
        Assert.True(comment.Success);
        var words = QuotedWord().Matches(comment.Groups[1].Value).Select(m => m.Groups[1].Value).ToArray();
        Assert.Equal(Snapper.AspNetCore.Hosting.LogKind.Redis, WorkerCommand.Settings([.. words.Skip(2)], _ => null).LogKind);
    }

    [Fact]
    public void Its_sidecar_takes_bodies_of_the_size_that_up_gives_its_own()
    {
        var folder = Directory.CreateTempSubdirectory("snapper-dapr-run-");
        using var temp = DataDirectory.Open(folder.FullName);
        var ports = new SidecarPorts(1, 2, 3, Number("appPort"));
        var ours = ChildCommands.Daprd("daprd", temp, UpCommand.Parse(), 1, ports, null, null).Arguments.ToList();
        foreach (var (key, value) in App.Children)
        {
            // What both set must be the same; what up sets beside it is metrics, log level and inner ports. Its own rule comes before the component files.
            if (key.ToString() == "resourcesPaths") continue;
            if (s_fields[key.ToString()].Option is not { } option || ours.IndexOf("--" + option) is not (>= 0 and var at)) continue;
            Assert.Equal(ours[at + 1], value.ToString());
        }

        folder.Delete(recursive: true);
    }

    [Fact]
    public void What_its_sidecar_may_not_repeat_is_what_up_generates_for_one_worker()
    {
        var generated = Resiliency.Yaml(Text(App, "appID"), 1, ServerActors.Own.Types);
        Assert.Equal(Rule(generated), Rule(Tree.Read("components/resiliency.yaml")));

        static (string Apps, string Actors, string Policies) Rule(string text)
        {
            var yaml = new YamlStream();
            yaml.Load(new StringReader(text));
            var spec = (YamlMappingNode)((YamlMappingNode)yaml.Documents[0].RootNode).Children["spec"];
            var targets = (YamlMappingNode)spec.Children["targets"];
            return (All(targets.Children["apps"]), All(targets.Children["actors"]), spec.Children["policies"].ToString());
        }

        static string All(YamlNode targets) =>
            string.Join('\n', ((YamlMappingNode)targets).Children.Select(target => $"{target.Key}: {target.Value}").Order(StringComparer.Ordinal));
    }

    [Fact]
    public async Task Every_option_that_the_CLI_makes_of_it_is_one_of_the_daprd_that_is_here()
    {
        if (ServerPrograms.Daprd(ExecutableFinder.System).Path is not { } daprd) return; // the other tests hold without it
        using var process = Process.Start(new ProcessStartInfo(daprd, "--help") { RedirectStandardOutput = true, RedirectStandardError = true })!;
        var errors = process.StandardError.ReadToEndAsync();
        var help = await process.StandardOutput.ReadToEndAsync() + await errors;
        await process.WaitForExitAsync();
        foreach (var option in App.Children.Keys.Select(k => s_fields[k.ToString()].Option).OfType<string>()) Assert.Contains("--" + option, help);
    }

    private static bool Fits(string kind, YamlNode value) => (kind, value) switch
    {
        ("texts" or "paths", YamlSequenceNode list) => list.Children.Count > 0 && list.All(v => v is YamlScalarNode),
        ("map", YamlMappingNode) => true,
        ("port", YamlScalarNode one) => int.TryParse(one.Value, NumberStyles.None, CultureInfo.InvariantCulture, out var port) && port is > 0 and <= 65535,
        ("number", YamlScalarNode one) => int.TryParse(one.Value, NumberStyles.AllowLeadingSign, CultureInfo.InvariantCulture, out _),
        ("bool", YamlScalarNode one) => one.Value is "true" or "false",
        ("log", YamlScalarNode one) => one.Value is "console" or "file" or "fileAndConsole",
        ("size", YamlScalarNode one) => Size().IsMatch(one.Value ?? ""),
        ("text" or "path", YamlScalarNode one) => one.Value?.Length > 0,
        _ => false,
    };

    private static string Text(YamlMappingNode node, string key) => ((YamlScalarNode)node.Children[key]).Value!;

    private static string[] Texts(YamlMappingNode node, string key) => [.. ((YamlSequenceNode)node.Children[key]).Select(v => ((YamlScalarNode)v).Value!)];

    private static int Number(string key) => int.Parse(Text(App, key), CultureInfo.InvariantCulture);

    private static YamlMappingNode Load(string path = "dapr.yaml")
    {
        var yaml = new YamlStream();
        yaml.Load(new StringReader(Tree.Read(path)));
        return (YamlMappingNode)Assert.Single(yaml.Documents).RootNode;
    }

    [GeneratedRegex("^[0-9]+(Ki|Mi|Gi)$")]
    private static partial Regex Size();

    [GeneratedRegex("# +command: (\\[.*\\])")]
    private static partial Regex CommandInComment();

    [GeneratedRegex("\"([^\"]*)\"")]
    private static partial Regex QuotedWord();
}

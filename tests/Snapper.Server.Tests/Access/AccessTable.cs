using System.Globalization;
using System.Text;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Routing;
using Snapper.AspNetCore.Api.Access;
using Snapper.AspNetCore.Hosting;
using Snapper.Security;
using Snapper.Server.Hosting;

namespace Snapper.Server.Tests.Access;

/// <summary>
/// Every address that a worker serves, with the right that it asks for, read from the worker's endpoints: the table in
/// docs/security.md is written from it.
/// </summary>
internal static class AccessTable
{
    /// <summary>Stands for every HTTP method.</summary>
    public const string AnyMethod = AccessRow.AnyMethod;

    private const string Rest = "/{**path}";

    /// <summary>The rows, each address once; those of methods that an address does not take are left out.</summary>
    public static IReadOnlyList<AccessRow> Rows { get; } = Read();

    /// <summary>The row of an address; null: it has none.</summary>
    public static AccessRow? Of(Endpoint? endpoint) => endpoint?.Metadata.GetMetadata<AccessRow>();

    /// <summary>What an address answers to a role that asks: 0, its own answer; else 401 or 403.</summary>
    public static int Refusal(AccessRow row, Role role) =>
        role.Has(row.Right) ? 0 : role == Role.Nobody ? 401 : 403;

    /// <summary>The table as the documentation shows it.</summary>
    public static string ToMarkdown()
    {
        Role[] roles = [Role.Nobody, Role.Sidecar, .. Roles.OfTokens];
        var text = new StringBuilder("| address | right |");
        foreach (var role in roles) text.Append(CultureInfo.InvariantCulture, $" {role.Name()} |");
        text.Append(" bound to tenants | audited |\n|---|---|").Insert(text.Length, "---|", roles.Length + 2);
        text.Append('\n');
        foreach (var row in Rows)
        {
            var address = row.Method == AnyMethod ? "any other" : row.Method + " " + Address(row.Pattern);
            text.Append(CultureInfo.InvariantCulture, $"| `{address}` | {row.Right.ToString().ToLowerInvariant()} |");
            foreach (var role in roles)
            {
                var status = Refusal(row, role);
                text.Append(CultureInfo.InvariantCulture, $" {(status > 0 ? status : "yes")} |");
            }

            var bound = row.Reach switch
            {
                Reach.Whole => "403",
                Reach.Named => "its own; else 404",
                _ => "as its role",
            };
            text.Append(CultureInfo.InvariantCulture, $" {bound} | {row.Action ?? ""} |\n");
        }

        return text.ToString();
    }

    private static string Address(string pattern)
    {
        var actor = pattern.StartsWith("/v1", StringComparison.Ordinal) ? "{type}/{id}..." : "...";
        return pattern.Replace("{**actor}", actor, StringComparison.Ordinal)
            .Replace("{**", "{", StringComparison.Ordinal);
    }

    private static AccessRow[] Read()
    {
        var settings = new WorkerSettings
        {
            Actors = ServerActors.Own,
            Name = "w1",
            ListenPort = 0,
            SidecarPort = 3500,
            SidecarKind = SidecarKind.Daprd,
            LogKind = LogKind.File,
            DataDirectory = Path.GetTempPath(),
            Fsync = FsyncPolicy.Always,
        };
        using var app = (IDisposable)WorkerWeb.Build(
            settings, new AspNetCore.Api.LifecycleGate(), new InspectionSwitch(settings), new MailboxEndpoint(null));
        return
        [
            .. ((IEndpointRouteBuilder)app).DataSources.SelectMany(source => source.Endpoints).Select(Of)
                .OfType<AccessRow>().Where(row => row.Method != AnyMethod || row.Pattern == Rest)
                .Distinct().OrderBy(row => row.Pattern == Rest),
        ];
    }
}

using System.Reflection;
using System.Text.Json;
using System.Text.Json.Serialization;
using Snapper.Contracts;
using Snapper.Dashboard.Tests.Fakes;

namespace Snapper.Dashboard.Tests.Units;

/// <summary>What the dashboard reads is what workers send: each field of its views is one that docs/openapi.json describes, of that type, and null where it may be.</summary>
public sealed class ContractTests
{
    private static readonly (Type View, string Path)[] s_views =
    [
        (typeof(WorkerStatus), "/v1/status"), (typeof(ReadyView), "/readyz"), (typeof(WorkersView), "/v1/workers"),
        (typeof(DirectoryView), "/v1/directory"), (typeof(PlacementView), "/v1/directory"),
        (typeof(ActorTypesView), "/v1/actor-types"), (typeof(ActorListView), "/v1/actors"),
        (typeof(ActorView), "/v1/actors/T/1"), (typeof(ScheduleView), "/v1/actors/T/1/schedule"),
        (typeof(TimelineView), "/v1/actors/T/1/timeline"), (typeof(HotView), "/v1/hot"), (typeof(AccessView), "/v1/access"),
        (typeof(RingView), "/v1/ring"), (typeof(MigrationsView), "/v1/migrations"),
        (typeof(MigrationStatus), "/v1/migrations/m-1"), (typeof(AuditView), "/v1/audit"),
        (typeof(BatchesView), "/v1/batches"), (typeof(BatchView), "/v1/batches/1"), (typeof(AbortsView), "/v1/aborts"),
        (typeof(TracesView), "/v1/traces"), (typeof(TracesView), "/v1/traces/id"),
        (typeof(EnvelopeView), "/v1/transactions/id"),
    ];

    private readonly HashSet<Type> _seen = [];

    [Fact]
    public void Views_have_fields_that_workers_send_and_no_others()
    {
        var wrong = s_views.SelectMany(one => ApiDescription.Answers(one.Path).Select(schema => Compare(one.View.Name, one.View, schema).ToArray()).MinBy(found => found.Length) ?? [$"{one.Path} is not described"]).ToArray();
        Assert.True(wrong.Length == 0, string.Join("\n", wrong));

        // One that is read from an answer, and was not compared, would be missing above.
        var all = typeof(WorkerStatus).Assembly.GetTypes()
            .Where(type => type.IsPublic && type.GetMethod("<Clone>$") is not null);
        Assert.Empty(all.Except(_seen).Except(
        [
            typeof(MigrationRequest), typeof(ActorReference), typeof(LeftView), typeof(PartitionsView),
            typeof(MigrationProposals), typeof(WorkerLoad), typeof(ProposedMove), typeof(ProblemView),
            typeof(ReadsRequest), typeof(ReadsView), typeof(ReadsPoint), typeof(ActorStateView), // not the dashboard's
            typeof(ImportsView), typeof(ImportFailure),
        ]));
    }

    [Fact]
    public void Invented_fields_are_found()
    {
        using var answer = JsonDocument.Parse("""{"aborts":[{"atMs":1,"blockedBy":{"root":"A/1","nobody":1},"cause":2}]}""");
        Assert.Equal(["/v1/aborts.aborts.blockedBy.nobody", "/v1/aborts.aborts.cause"], ApiDescription.Unknown("/v1/aborts", answer.RootElement));
        Assert.Equal(["/v1/nothing"], ApiDescription.Unknown("/v1/nothing", answer.RootElement));
        Assert.Equal(3, Compare("Odd", typeof(Odd), ApiDescription.Answers("/v1/ring")[0]).Count());
    }

    /// <summary>A ring whose worker is a number, whose master cannot be null, and which says something that no ring says.</summary>
    private sealed record Odd
    {
        public int Worker { get; init; }
        public string Master { get; init; } = "";
        public bool Parked { get; init; }
    }

    private IEnumerable<string> Compare(string at, Type view, JsonElement schema)
    {
        schema = ApiDescription.Resolved(schema);
        _seen.Add(view);
        if (!schema.TryGetProperty("properties", out var fields))
        {
            yield return $"{at}: workers send no object there";
            yield break;
        }

        var required = schema.TryGetProperty("required", out var names) ? names.EnumerateArray().Select(one => one.GetString()).ToHashSet() : [];
        var given = view.GetConstructors().Where(one => one.GetParameters() is not [{ } only] || only.ParameterType != view).SelectMany(one => one.GetParameters()).Where(one => one.DefaultValue is null or DBNull).Select(one => one.Name).ToHashSet(); // without the field they are null
        foreach (var property in view.GetProperties(BindingFlags.Public | BindingFlags.Instance))
        {
            // What is not of the answer.
            if (property.GetCustomAttribute<JsonIgnoreAttribute>() is { Condition: JsonIgnoreCondition.Always }) continue;

            var name = JsonNamingPolicy.CamelCase.ConvertName(property.Name);
            if (!fields.TryGetProperty(name, out var field))
            {
                yield return $"{at}.{property.Name}: workers send no '{name}'";
                continue;
            }

            field = ApiDescription.Resolved(field);
            var mayBeNull = ApiDescription.Types(field).Contains("null") || (!required.Contains(name) && given.Contains(property.Name));
            var takesNull = Nullable.GetUnderlyingType(property.PropertyType) is not null || new NullabilityInfoContext().Create(property).WriteState == NullabilityState.Nullable;
            if (mayBeNull && !takesNull) yield return $"{at}.{property.Name}: it may be null";
            foreach (var wrong in CompareValue($"{at}.{property.Name}", Nullable.GetUnderlyingType(property.PropertyType) ?? property.PropertyType, field)) yield return wrong;
        }
    }

    private IEnumerable<string> CompareValue(string at, Type type, JsonElement schema)
    {
        schema = ApiDescription.Resolved(schema);
        var types = ApiDescription.Types(schema).Where(one => one != "null").ToArray();
        string[] fit = type == typeof(string) || type == typeof(DateTimeOffset) ? ["string"]
            : type == typeof(bool) ? ["boolean"]
            : type == typeof(double) ? ["number", "integer"]
            : type == typeof(long) || type == typeof(int) ? ["integer"]
            : type == typeof(JsonElement) ? []
            : IsList(type) ? ["array"]
            : ["object"];
        if (fit.Length > 0 && types.Except(fit).Any()) return [$"{at}: it is {string.Join(" or ", types)}"];
        if (fit is ["array"]) return CompareValue(at, type.GetGenericArguments()[0], schema.GetProperty("items"));
        if (fit is not ["object"]) return [];
        return type.IsGenericType && type.GetGenericTypeDefinition() == typeof(IReadOnlyDictionary<,>) ? CompareValue(at, type.GetGenericArguments()[1], schema.GetProperty("additionalProperties")) : Compare(at, type, schema);
    }

    private static bool IsList(Type type) => type.IsGenericType && type.GetGenericTypeDefinition() == typeof(IReadOnlyList<>);
}

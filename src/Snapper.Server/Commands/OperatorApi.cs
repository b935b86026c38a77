using System.Diagnostics;
using System.Text.Json;
using System.Text.Json.Serialization.Metadata;
using Snapper.Contracts;

namespace Snapper.Server.Commands;

/// <summary>The HTTP API of one worker, for commands that operators type. Shows <c>SNAPPER_TOKEN</c>, its caller's own, and <c>APP_API_TOKEN</c>, as the sidecar does, when they are set.</summary>
internal sealed class OperatorApi : IDisposable
{
    private const string OwnVariable = "SNAPPER_TOKEN";
    private const string TokenVariable = "APP_API_TOKEN";

    private static readonly TimeSpan LookEvery = TimeSpan.FromMilliseconds(100);

    /// <summary>Longer than a worker that lives takes to say what it knows: who asks one that was stopped shall hear it soon, and ask another.</summary>
    private static readonly TimeSpan ReadWithin = TimeSpan.FromSeconds(10);

    private static readonly TimeSpan BeginWithin = TimeSpan.FromSeconds(30);

    private readonly HttpClient _http;
    private readonly bool _hasToken;
    private readonly bool _isOwn;
    private readonly string _advice;

    /// <param name="address">The worker's own address.</param>
    /// <param name="token">What it wants to see; null or empty: nothing.</param>
    /// <param name="advice">What else to try when nobody answers; empty: nothing.</param>
    /// <param name="own">The caller's own token; null or empty: none.</param>
    public OperatorApi(Uri address, string? token, string advice = "", string? own = null)
    {
        _advice = advice.Length == 0 ? "" : " " + advice;
        _isOwn = !string.IsNullOrEmpty(own);
        _hasToken = _isOwn || !string.IsNullOrEmpty(token);
        _http = new HttpClient(new SocketsHttpHandler { UseProxy = false }) { BaseAddress = new Uri(address.AbsoluteUri.TrimEnd('/') + "/"), Timeout = Timeout.InfiniteTimeSpan };
        if (_isOwn) _http.DefaultRequestHeaders.TryAddWithoutValidation("Authorization", "Bearer " + own);
        if (!string.IsNullOrEmpty(token)) _http.DefaultRequestHeaders.Add("dapr-api-token", token);
    }

    /// <summary>The worker at an address, with the token of this environment.</summary>
    public static OperatorApi At(Uri address, string advice = "") => 
        new(address, Environment.GetEnvironmentVariable(TokenVariable), advice, Environment.GetEnvironmentVariable(OwnVariable));

    /// <summary>One question, asked once.</summary>
    /// <exception cref="OperatorException">No answer, or another one than success.</exception>
    public Task<T> Ask<T>(HttpMethod method, string path, JsonTypeInfo<T> form, MigrationRequest? body = null)
        where T : class =>
        Send(method, path, form, body is null ? null : JsonContent.Create(body, ContractJson.Default.MigrationRequest));

    /// <summary>The same with a body of any kind.</summary>
    /// <exception cref="OperatorException">No answer, or another one than success.</exception>
    public async Task<T> Send<T>(HttpMethod method, string path, JsonTypeInfo<T> form, HttpContent? content)
        where T : class
    {
        var within = method == HttpMethod.Get ? ReadWithin : BeginWithin;
        using var patience = new CancellationTokenSource(within);
        try
        {
            using var request = new HttpRequestMessage(method, path) { Content = content };
            using var answer = await _http.SendAsync(request, patience.Token);
            var status = (int)answer.StatusCode;
            var utf8 = await answer.Content.ReadAsByteArrayAsync(patience.Token);
            if (status is 401 or 403)
            {
                throw new OperatorException(Unwelcome(status, ProblemView.DetailOf(utf8)), status);
            }

            if (!answer.IsSuccessStatusCode)
            {
                throw new OperatorException(ProblemView.DetailOf(utf8) ?? $"{_http.BaseAddress} answered {status}.", status);
            }

            return Read(utf8, form) ?? throw new OperatorException(
                $"{_http.BaseAddress} answered {status} with something that is not JSON; is it a worker?", status);
        }
        catch (OperationCanceledException) when (patience.IsCancellationRequested)
        {
            throw new OperatorException($"the worker at {_http.BaseAddress} does not answer within {within.TotalSeconds:0} s.{_advice}", OperatorException.NoAnswer);
        }
        catch (Exception exception) when (exception is HttpRequestException or IOException)
        {
            throw new OperatorException($"no worker answers at {_http.BaseAddress}: {exception.Message.TrimEnd('.')}.{_advice}", OperatorException.NoAnswer);
        }
    }

    /// <summary>A question that may be repeated, as long as it takes a worker to come back: one that changes nothing, or has an id.</summary>
    /// <param name="method">How it is asked.</param>
    /// <param name="path">Where.</param>
    /// <param name="form">How the answer is read.</param>
    /// <param name="body">With what; null: nothing.</param>
    /// <param name="patience">For how long it is repeated.</param>
    /// <param name="waits">Hears once why it is repeated.</param>
    /// <exception cref="OperatorException">Refused; or not answered for that long.</exception>
    public async Task<T> Again<T>(
        HttpMethod method, string path, JsonTypeInfo<T> form, MigrationRequest? body, TimeSpan patience, Action<string>? waits = null)
        where T : class
    {
        var started = Stopwatch.GetTimestamp();
        while (true)
        {
            try
            {
                return await Ask(method, path, form, body);
            }
            catch (OperatorException problem) when (problem.IsPassing && Stopwatch.GetElapsedTime(started) < patience)
            {
                waits?.Invoke(problem.Message);
                waits = null;
                await Task.Delay(LookEvery); // what was begun goes on without it
            }
        }
    }

    public void Dispose() => _http.Dispose();

    private static T? Read<T>(byte[] utf8, JsonTypeInfo<T> form)
        where T : class
    {
        try
        {
            return JsonSerializer.Deserialize(utf8, form);
        }
        catch (JsonException)
        {
            return null;
        }
    }

    private string Unwelcome(int status, string? detail) => _isOwn
        ? $"{_http.BaseAddress} answered {status} to the token in {OwnVariable}{(detail is null ? "." : ": " + detail)}"
        : status == 403 && detail is not null ? $"{_http.BaseAddress} answered 403: {detail} Set {OwnVariable} to a token that may."
        : _hasToken
        ? $"{_http.BaseAddress} answered {status}: {TokenVariable} is set here, but to another token than that worker's."
        : $"{_http.BaseAddress} answered {status}: it wants a token. Set {TokenVariable} to the one that the workers were started with.";
}
